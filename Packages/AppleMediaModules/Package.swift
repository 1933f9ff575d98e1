// swift-tools-version: 6.1
import PackageDescription

// Opt-in: modules by Apple's names, for code that says `import CoreMedia` without a condition. A package of its own, because
// whoever depends on it makes `canImport(CoreMedia)` true on Linux for everything built beside it.

let package = Package(
  name: "AppleMediaModules",
  products: [
    .library(name: "CoreMedia", targets: ["CoreMedia"]),
    .library(name: "CoreVideo", targets: ["CoreVideo"]),
    .library(name: "AVFAudio", targets: ["AVFAudio"]),
  ],
  dependencies: [.package(name: "Glasswing", path: "../..")],
  targets: [
    .target(name: "CoreMedia", dependencies: [.product(name: "PortableMedia", package: "Glasswing")]),
    .target(name: "CoreVideo", dependencies: [.product(name: "PortableMedia", package: "Glasswing")]),
    .target(
      name: "AVFAudio",
      dependencies: [
        .product(name: "PortableMedia", package: "Glasswing"), .product(name: "MWDATCamera", package: "Glasswing"),
      ]),
    .testTarget(name: "AppleMediaModulesTests", dependencies: ["CoreMedia", "CoreVideo", "AVFAudio"]),
  ],
  swiftLanguageModes: [.v6]
)
