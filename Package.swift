// swift-tools-version: 6.1
import PackageDescription

// One target a room; docs/architecture.md says what lives in each and why the
// arrows point the way they do. Libraries that apps depend on are products of
// their own, so that an app that only receives links no encoder and no mock.

/// A C library of the system, found by pkg-config, with the packages that bring it.
func system(_ name: String, pkgConfig: String? = nil, apt: [String], brew: [String] = []) -> Target {
  var providers: [SystemPackageProvider] = [.apt(apt)]
  if !brew.isEmpty { providers.append(.brew(brew)) }
  return .systemLibrary(name: name, path: "Sources/\(name)", pkgConfig: pkgConfig, providers: providers)
}

let package = Package(
  name: "Glasswing",
  products: [
    .library(name: "MWDATCore", targets: ["MWDATCore"]),
    .library(name: "MWDATCamera", targets: ["MWDATCamera"]),
    .library(name: "MWDATMockDevice", targets: ["MWDATMockDevice"]),
    .library(name: "PortableMedia", targets: ["PortableMedia"]),
    .library(name: "Glasswing", targets: ["Glasswing"]),
    .library(name: "GlasswingTesting", targets: ["GlasswingTesting"]),
    .executable(name: "glasswing", targets: ["GlasswingCommand"]),
  ],
  targets: [
    // C libraries
    system(
      "CFFmpeg", pkgConfig: "libavformat libavcodec libswscale libswresample libavutil",
      apt: ["libavformat-dev", "libavcodec-dev", "libswscale-dev", "libswresample-dev", "libavutil-dev"],
      brew: ["ffmpeg"]),
    system("CX265", pkgConfig: "x265", apt: ["libx265-dev"], brew: ["x265"]),
    system("CYUV", apt: ["libyuv-dev"]),
    system("CTurboJPEG", pkgConfig: "libturbojpeg", apt: ["libturbojpeg0-dev"], brew: ["jpeg-turbo"]),
    system("CHEIF", pkgConfig: "libheif", apt: ["libheif-dev"], brew: ["libheif"]),
    system("CQREncode", pkgConfig: "libqrencode", apt: ["libqrencode-dev"], brew: ["qrencode"]),
    system("COpenSSL", pkgConfig: "openssl", apt: ["libssl-dev"], brew: ["openssl@3"]),
    // Its pkg-config file has a flag that SwiftPM warns of.
    system("CAvahi", apt: ["libavahi-client-dev"]),
    // The system's own: no package brings it.
    .systemLibrary(name: "CSockets", path: "Sources/CSockets"),

    // Pure rooms
    .target(name: "Units"),
    .target(name: "PortableMedia"),
    .target(name: "LinkProtocol", dependencies: ["Units"]),

    // Media
    .target(
      name: "MediaEngine",
      dependencies: ["Units", "PortableMedia", "CFFmpeg", "CYUV", "CTurboJPEG", "CHEIF"]),
    .target(name: "MediaEncoding", dependencies: ["Units", "PortableMedia", "MediaEngine", "CX265", "CHEIF", "CYUV"]),

    // Link
    .target(name: "Trust", dependencies: ["Units", "COpenSSL"]),
    .target(name: "LinkTransport", dependencies: ["Units", "LinkProtocol", "Trust", "CSockets", "CAvahi"]),

    // The companion
    .target(name: "Companion", dependencies: ["Units", "LinkProtocol", "LinkTransport", "Trust"]),

    // The interface
    .target(name: "MWDATCore", dependencies: ["Units", "LinkProtocol", "LinkTransport", "Trust"]),
    .target(
      name: "MWDATCamera",
      dependencies: ["Units", "LinkProtocol", "LinkTransport", "MWDATCore", "MediaEngine", "PortableMedia"]),

    // The glasses
    .target(
      name: "GlassesAgent",
      dependencies: [
        "Units", "LinkProtocol", "LinkTransport", "Trust", "PortableMedia", "MediaEngine", "MediaEncoding",
      ]),
    .target(
      name: "MWDATMockDevice",
      dependencies: ["Units", "LinkProtocol", "LinkTransport", "MWDATCore", "GlassesAgent"]),

    // What the interface lacks
    .target(
      name: "Glasswing",
      dependencies: [
        "Units", "LinkProtocol", "LinkTransport", "MWDATCore", "MWDATCamera", "MediaEngine", "PortableMedia",
      ]),
    .target(
      name: "GlasswingTesting",
      dependencies: ["Units", "LinkTransport", "MWDATCore", "MWDATMockDevice", "GlassesAgent", "Glasswing"]),

    // The command
    .executableTarget(
      name: "GlasswingCommand",
      dependencies: [
        "Units", "LinkProtocol", "LinkTransport", "Trust", "PortableMedia", "MediaEngine", "MediaEncoding", "MWDATCore",
        "MWDATCamera", "GlassesAgent", "Companion", "CQREncode", "MWDATMockDevice", "Glasswing", "GlasswingTesting",
      ]),

    // Tests
    .target(
      name: "TestSupport",
      dependencies: ["Units", "PortableMedia", "LinkProtocol", "LinkTransport"],
      path: "Tests/TestSupport"),
    .testTarget(name: "UnitsTests", dependencies: ["Units", "TestSupport"]),
    .testTarget(name: "PortableMediaTests", dependencies: ["PortableMedia", "TestSupport"]),
    .testTarget(name: "LinkProtocolTests", dependencies: ["LinkProtocol", "TestSupport"]),
    .testTarget(name: "TrustTests", dependencies: ["Trust", "Units", "TestSupport"]),
    .testTarget(name: "MediaEngineTests", dependencies: ["MediaEngine", "MediaEncoding", "TestSupport"]),
    .testTarget(name: "MediaEncodingTests", dependencies: ["MediaEncoding", "MediaEngine", "CHEIF", "TestSupport"]),
    .testTarget(name: "LinkTransportTests", dependencies: ["LinkTransport", "Trust", "TestSupport"]),
    .testTarget(name: "GlassesAgentTests", dependencies: ["GlassesAgent", "MediaEngine", "TestSupport", "Trust"]),
    .testTarget(name: "CompanionTests", dependencies: ["Companion", "MWDATCore", "TestSupport", "Trust"]),
    .testTarget(name: "MWDATCoreTests", dependencies: ["MWDATCore", "TestSupport"]),
    .testTarget(name: "MWDATCameraTests", dependencies: ["MWDATCamera", "MediaEngine", "TestSupport"]),
    .testTarget(
      name: "MWDATMockDeviceTests",
      dependencies: ["MWDATMockDevice", "MWDATCamera", "GlasswingTesting", "TestSupport"]),
    .testTarget(
      name: "GlasswingTests",
      dependencies: [
        "Glasswing", "GlasswingTesting", "MWDATMockDevice", "MediaEngine", "MediaEncoding", "GlassesAgent",
        "TestSupport",
      ]),
    .testTarget(
      name: "GlasswingCommandTests", dependencies: ["GlasswingCommand", "GlassesAgent", "TestSupport"]),
    // Across processes: the program is the glasses.
    .testTarget(
      name: "NetworkTests",
      dependencies: [
        "Companion", "Glasswing", "LinkProtocol", "LinkTransport", "MWDATCamera", "MWDATCore", "TestSupport", "Trust",
        "Units",
      ]),
    // What is promised, through the public interface alone.
    .testTarget(
      name: "GuaranteeTests",
      dependencies: [
        "MWDATCore", "MWDATCamera", "MWDATMockDevice", "Glasswing", "GlasswingTesting", "TestSupport",
      ]),
  ],
  swiftLanguageModes: [.v6]
)
