// swift-tools-version: 6.1
import PackageDescription

// One app, two places to get the interface from: on Linux from Glasswing, on a phone from the vendor.
//
// The choice is made here, in the manifest, by the system that builds. (A condition on the dependency, such as
// `.when(platforms: [.linux])`, is no way out: both packages would be resolved, and their module names clash.)
#if os(Linux)
  // A checkout: `GLASSWING` says where (the Dockerfile and the workflow do), else the one that this example lies in.
  // A URL of your clone does as well.
  let glasses: Package.Dependency = .package(name: "glasswing", path: Context.environment["GLASSWING"] ?? "../..")
  let interface: [Target.Dependency] = [
    .product(name: "MWDATCore", package: "glasswing"),
    .product(name: "MWDATCamera", package: "glasswing"),
  ]
  let mock: [Target.Dependency] = [.product(name: "MWDATMockDevice", package: "glasswing")]
#else
  let glasses: Package.Dependency = .package(
    url: "https://github.com/facebook/meta-wearables-dat-ios", from: "1.0.0")
  let interface: [Target.Dependency] = [
    .product(name: "MWDATCore", package: "meta-wearables-dat-ios"),
    .product(name: "MWDATCamera", package: "meta-wearables-dat-ios"),
  ]
  let mock: [Target.Dependency] = [.product(name: "MWDATMockDevice", package: "meta-wearables-dat-ios")]
#endif

let package = Package(
  name: "CameraFeature",
  platforms: [.iOS(.v17)],
  products: [.library(name: "CameraFeature", targets: ["CameraFeature"])],
  dependencies: [glasses],
  targets: [
    .target(name: "CameraFeature", dependencies: interface),
    .testTarget(name: "CameraFeatureTests", dependencies: ["CameraFeature"] + interface + mock),
  ],
  swiftLanguageModes: [.v6]
)
