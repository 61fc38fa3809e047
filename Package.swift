// swift-tools-version: 6.2
import PackageDescription

/// Whether the fuzzer is linked with libFuzzer, which needs flags of its own; see Tests/Fuzz.
let fuzzes = Context.environment["FUZZING"] != nil

/// Every target of our own is held to the same rules: data races and unmarked
/// unsafety are errors, and so is every other warning.
let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// Debug builds optimize the engine and what it stands on, and keep its assertions: its tests, the simulation and the
/// relays that the end-to-end tests start compute five times less. A debugger sees every variable of a build with
/// UNOPTIMIZED in its environment.
let optimized: [SwiftSetting] =
  Context.environment["UNOPTIMIZED"] != nil
  ? strict
  : strict
    + [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

/// In release builds of the modules whose classes belong to one thread each, Swift does not check
/// every access to a variable of a class for exclusivity (SE-0176): these checks took a quarter of the
/// relay's instructions for a delivery. Debug builds check, and with them nearly all tests.
let confined: [SwiftSetting] =
  optimized
  + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

/// The folders of Sources: a module imports from its own layer or from those below.
enum Layer: String {
  case commands = "Commands"
  case client = "Client"
  case server = "Server"
  case system = "System"
  case engine = "Engine"
  case `protocol` = "Protocol"

  func folder(_ name: String) -> String { "Sources/\(rawValue)/\(name)" }

  var settings: [SwiftSetting] {
    switch self {
    case .commands, .client: strict
    case .server, .system, .engine, .protocol: optimized
    }
  }

  func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting]? = nil,
    resources: [Resource] = [], plugins: [Target.PluginUsage] = []
  ) -> Target {
    .target(
      name: name, dependencies: dependencies, path: folder(name), resources: resources,
      swiftSettings: settings ?? self.settings, plugins: plugins)
  }
}

/// What the system provides, as a module.
func library(_ name: String, package: String, pkgConfig: String? = nil) -> Target {
  .systemLibrary(
    name: name, path: Layer.system.folder(name), pkgConfig: pkgConfig,
    providers: [.apt([package])])
}

func command(
  _ name: String, folder: String, _ dependencies: [Target.Dependency], excluding: [String] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: folder, exclude: excluding,
    swiftSettings: strict)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], excluding: [String] = []
) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: dependencies, exclude: excluding, swiftSettings: strict)
}

let argumentParser: Target.Dependency =
  .product(name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let containers: Target.Dependency =
  .product(name: "BasicContainers", package: "swift-collections")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let ordered: Target.Dependency =
  .product(name: "OrderedCollections", package: "swift-collections")
let histogram: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")

let package = Package(
  name: "relay",
  products: [
    .executable(name: "relay", targets: ["RelayCommand"]),
    .executable(name: "relay-media", targets: ["MediaCommand"]),
    .executable(name: "wschat", targets: ["WschatCommand"]),
    .executable(name: "swarm", targets: ["SwarmCommand"]),
    .executable(name: "append-bench", targets: ["AppendBench"]),
    .executable(name: "simulate", targets: ["SimulateCommand"]),
    .executable(name: "conformance-client", targets: ["ConformanceClient"]),
    .library(name: "WebSocket", targets: ["WebSocket"]),
    .library(name: "Client", targets: ["Client", "EventLoop", "Wire"]),
    .library(name: "PowerLossRecorder", type: .dynamic, targets: ["PowerLossRecorder"]),
    .library(name: "WrongClock", type: .dynamic, targets: ["WrongClock"]),
  ],
  // Exact, so that builds of one commit differ at most in swift-system and swift-numerics, which these need.
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(
      url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2", traits: []),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
  ],
  targets: [
    // Pure: no clock, no descriptor, no thread, no Foundation.
    Layer.protocol.module("WebSocket", ["CZlib"]),
    Layer.protocol.module("Wire"),
    Layer.engine.module("Mixing"),
    Layer.engine.module("Folding", ["CUtf8proc"]),
    Layer.engine.module("Emojis", resources: [.embedInCode("emoji-table.js")]),
    Layer.engine.module("Media"),
    Layer.engine.module("Moderation", ["Wire"]),
    Layer.engine.module(
      "Relay", ["Moderation", "Wire", "Mixing", "Folding", deque, heap, ordered], confined),
    Layer.engine.module("Cluster", ["Relay", "Wire"]),
    Layer.engine.module("Accounts", ["Wire"]),
    Layer.engine.module(
      "Gateway", ["Accounts", "WebSocket", "Wire", "Relay", "Mixing", heap], confined),

    // The web page, which the build bundles and embeds in Server.
    .executableTarget(
      name: "WebBundler", dependencies: ["Mixing", "CZlib"], path: "Sources/Web",
      exclude: ["page", "Plugin"], sources: ["Bundler"], swiftSettings: strict),
    .plugin(
      name: "EmbedPage", capability: .buildTool(), dependencies: ["WebBundler"],
      path: "Sources/Web/Plugin"),

    .target(name: "CLinux", path: Layer.system.folder("CLinux")),
    .target(name: "CTerminal", path: Layer.system.folder("CTerminal")),
    .target(name: "CPostgres", path: Layer.system.folder("CPostgres")),
    library("CCurl", package: "libcurl4-openssl-dev", pkgConfig: "libcurl"),
    library("CSQLite", package: "libsqlite3-dev", pkgConfig: "sqlite3"),
    library("CJWT", package: "libjwt-dev", pkgConfig: "libjwt"),
    library("COpenSSL", package: "libssl-dev", pkgConfig: "openssl"),
    // Not by pkg-config, whose flags for it SwiftPM warns about; its header lies where all do.
    library("CUtf8proc", package: "libutf8proc-dev"),
    library("CQRCode", package: "libqrencode-dev", pkgConfig: "libqrencode"),
    library("CTurboJPEG", package: "libturbojpeg0-dev", pkgConfig: "libturbojpeg"),
    library("CPNG", package: "libpng-dev", pkgConfig: "libpng"),
    library("CWebP", package: "libwebp-dev", pkgConfig: "libwebp"),
    library("CLCMS", package: "liblcms2-dev", pkgConfig: "lcms2"),
    library("CYAML", package: "libyaml-dev", pkgConfig: "yaml-0.1"),
    library("CZlib", package: "zlib1g-dev", pkgConfig: "zlib"),
    Layer.system.module("Platform", ["CLinux"]),
    Layer.system.module("EventLoop", ["Platform", "CLinux", heap]),
    Layer.system.module("TLS", ["Platform", "COpenSSL"]),
    Layer.system.module("SQLite", ["Platform", "CSQLite"]),
    Layer.system.module("Postgres", ["CPostgres"]),
    Layer.system.module("YAML", ["CYAML"]),
    Layer.system.module("ObjectStorage", ["CCurl", "Platform", "TLS"]),

    Layer.server.module(
      "SQLiteLog",
      ["Moderation", "Relay", "Wire", "Platform", "SQLite", "CSQLite", "CZlib", deque], confined),
    Layer.server.module(
      "PostgresLog", ["Cluster", "Moderation", "Relay", "Wire", "Platform", "Postgres"]),
    Layer.server.module(
      "AccountStores", ["Accounts", "PostgresLog", "Postgres", "SQLite"]),
    Layer.server.module(
      "Directories", ["Relay", "Wire", "Platform", "YAML", "CCurl", deque]),
    Layer.server.module("Backups", ["ObjectStorage", "Platform", "SQLite", "TLS"]),
    Layer.server.module("Bots", ["Wire", "Mixing", "Platform", logging, subprocess]),
    Layer.server.module(
      "Imports", ["Emojis", "Folding", "Moderation", "Relay", "Wire", "Platform", "CZlib"]),
    // Pictures: what decodes them, in a process of its own, and what starts that.
    Layer.server.module(
      "PictureConversion", ["Media", "CTurboJPEG", "CPNG", "CWebP", "CLCMS", "CZlib"]),
    Layer.server.module("PictureProcessing", ["Media", "Platform"]),
    Layer.server.module(
      "RelayConfiguration", ["Directories", "Relay", "Wire", "Platform", "YAML"]),
    Layer.server.module(
      "Server",
      [
        "RelayConfiguration", "Gateway", "WebSocket", "Wire", "Relay", "Platform", "EventLoop",
        "TLS", "ObjectStorage", "SQLiteLog", "PostgresLog", "Accounts", "AccountStores", "Bots",
        "Directories",
        "YAML", "CJWT", "COpenSSL", "CQRCode", "Media", "PictureProcessing", logging, deque,
      ], confined, plugins: ["EmbedPage"]),

    Layer.client.module(
      "Client", ["WebSocket", "EventLoop", "Platform", "TLS", "Wire", "Mixing", deque]),
    Layer.client.module(
      "Archive", ["Wire", "Platform", "Mixing", "Folding", "SQLite", "CSQLite"]),
    Layer.client.module("Pictures", ["CZlib"]),
    Layer.client.module("Terminal", ["CTerminal", "CUtf8proc", "Platform"]),
    Layer.client.module(
      "Messenger",
      ["Archive", "Terminal", "Client", "Emojis", "Wire", "YAML", "Mixing", "Folding"]),

    // The `main` that all commands share.
    Layer.commands.module("CommandMain", ["Platform", argumentParser]),
    command(
      "RelayCommand", folder: Layer.commands.folder("RelayCommand"),
      [
        "CommandMain", "Backups", "Imports", "Server", "RelayConfiguration", "Directories",
        "SQLiteLog", "Relay", "Accounts", "EventLoop", "ObjectStorage",
        "Platform", "Terminal", "Wire", argumentParser, logging,
      ],
      excluding: ["relay.1"]),
    command(
      "MediaCommand", folder: Layer.commands.folder("MediaCommand"),
      ["PictureConversion", "Media", "Platform"]),
    command(
      "WschatCommand", folder: Layer.commands.folder("WschatCommand"),
      [
        "CommandMain", "Archive", "Client", "EventLoop", "Platform", "Messenger", "Mixing",
        "Pictures",
        "Terminal", "TLS", "Wire", argumentParser,
      ], excluding: ["wschat.1"]),

    // The load test: its logic as a module of its own, so that it can be tested.
    .target(
      name: "Swarm",
      dependencies: [
        "Client", "EventLoop", "Platform", "Postgres", "Terminal", "Wire", "WebSocket", "YAML",
        "Mixing", "TLS", "CLinux", histogram,
      ], path: "LoadTests/swarm/Swarm", resources: [.embedInCode("Report/report.py")],
      swiftSettings: strict),
    command(
      "SwarmCommand", folder: "LoadTests/swarm/Command",
      ["CommandMain", "Swarm", "Platform", argumentParser]),
    // Preloaded into the relay by `swarm`, which finds it beside itself.
    .target(name: "PowerLossRecorder", path: "LoadTests/powerloss"),
    .target(name: "WrongClock", path: "LoadTests/clock"),

    // The log by itself, without the relay around it.
    command(
      "AppendBench", folder: "LoadTests/append",
      ["CommandMain", "SQLiteLog", "PostgresLog", "Relay", "Wire", "Platform", argumentParser]),

    // Shards and their log on one thread, and what they cost.
    .target(
      name: "ShardWorld", dependencies: ["Moderation", "Relay", "Wire", containers],
      path: "Tests/ShardWorld",
      swiftSettings: optimized),

    // What an adversary says and what it may cost, for the simulation and for the fuzzer.
    .target(
      name: "Hostile", dependencies: ["Relay", "ShardWorld"], path: "Tests/Hostile",
      swiftSettings: optimized),

    // The simulation: everything on one clock, with faults, from a seed.
    .target(
      name: "Simulation",
      dependencies: [
        "Server", "Gateway", "Cluster", "Moderation", "Relay", "Wire", "WebSocket", "SQLiteLog",
        "Client", "TLS",
        "Platform", "CSQLite", "ShardWorld", "Hostile", "Mixing", deque, heap,
      ], path: "Tests/Simulation/Simulation", swiftSettings: optimized),
    command(
      "SimulateCommand", folder: "Tests/Simulation/Command",
      ["CommandMain", "Simulation", argumentParser]),

    // What the Autobahn suite tests of the client: see Tests/Conformance.
    command(
      "ConformanceClient", folder: "Tests/Conformance/Client",
      ["CommandMain", "Client", "EventLoop", "Platform", "WebSocket", argumentParser]),

    // The fuzzer: what it checks is a module of its own, which replays its inputs as a test.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "WebSocket", "Wire", "Relay", "Gateway", "Imports", "Server", "RelayConfiguration",
        "ShardWorld", "Hostile", "Media", "Pictures", "CZlib",
      ],
      path: "Tests/Fuzz/Targets", swiftSettings: strict),
    .target(
      name: "WithoutFuzzer", path: "Tests/Fuzz/WithoutFuzzer", swiftSettings: strict),
    command(
      "fuzz", folder: "Tests/Fuzz/Command", ["FuzzTargets"] + (fuzzes ? [] : ["WithoutFuzzer"])),

    // The example of Client's documentation.
    .target(
      name: "ConversationExample", dependencies: ["Client", "Wire"],
      path: "docs/clients/swift", swiftSettings: strict),

    // Enters the sandbox of relay-media, and does what it is told to.
    command("SandboxProbe", folder: "Tests/SandboxProbe", ["Platform"]),

    // What the tests of several modules need.
    .target(
      name: "TestSupport", dependencies: ["EventLoop", "Platform"], path: "Tests/TestSupport",
      swiftSettings: strict),

    tests("Package", ["TestSupport"]),
    tests("Fuzz", ["FuzzTargets", "WebSocket", "TestSupport"]),
    tests("Simulation", ["Simulation", "SimulateCommand", "Wire", "CSQLite", "TestSupport"]),
    tests("Mixing", ["Mixing"]),
    tests("Folding", ["Folding"]),
    tests("Moderation", ["Moderation", "Mixing", "Wire"]),
    tests("WebSocket", ["WebSocket", "Mixing", "TestSupport"], excluding: ["RecordedCases.txt"]),
    tests("Wire", ["Wire", "Mixing"]),
    tests("Relay", ["Moderation", "Relay", "Wire", "Mixing", "ShardWorld"]),
    tests("Cluster", ["Cluster", "Relay"]),
    tests("Accounts", ["Accounts", "AccountStores", "PostgresLog", "Wire", "TestSupport"]),
    tests("Gateway", ["Accounts", "Gateway", "Relay", "WebSocket"]),
    tests("WebBundler", ["WebBundler"]),
    tests("Platform", ["Platform", "TestSupport"]),
    tests("EventLoop", ["EventLoop", "Platform", "TestSupport"]),
    tests("TLS", ["TLS", "Platform", "COpenSSL", "TestSupport"]),
    tests(
      "Log",
      [
        "SQLiteLog", "PostgresLog", "Postgres", "Relay", "Wire", "Mixing", "CSQLite", "TestSupport",
      ]),
    tests("Media", ["Media", "Mixing", "TestSupport"], excluding: ["Samples"]),
    tests("PictureConversion", ["PictureConversion", "Media"]),
    tests(
      "PictureProcessing",
      [
        "PictureProcessing", "Media", "MediaCommand", "SandboxProbe", "Platform", "Mixing",
        "TestSupport",
      ],
      excluding: ["pictures.py"]),
    tests("YAML", ["YAML"]),
    tests("ObjectStorage", ["ObjectStorage", "TestSupport"]),
    tests("Backups", ["Backups", "ObjectStorage", "Platform", "SQLite", "TLS", "TestSupport"]),
    tests(
      "Directories", ["Directories", "Relay", "Wire", "Platform", "TestSupport"],
      excluding: ["directory.py"]),
    tests("Pictures", ["Pictures", "CZlib"]),
    tests("Terminal", ["Terminal", "Platform", "Mixing", "TestSupport"]),
    tests(
      "Messenger",
      [
        "Messenger", "Archive", "Terminal", "Client", "Emojis", "Platform", "Wire", "YAML",
        "Mixing",
        "Folding", "TestSupport",
      ]),
    tests("Archive", ["Archive", "Relay", "Wire", "Platform", "Mixing", "CSQLite", "TestSupport"]),
    tests("Bots", ["Bots", "Wire", logging]),
    tests("Imports", ["Imports", "Moderation", "Relay", "Wire", "TestSupport"]),
    tests(
      "RelayConfiguration", ["RelayConfiguration", "Directories", "Relay", "YAML", "TestSupport"]),
    tests(
      "Server",
      [
        "Server", "RelayConfiguration", "Gateway", "Accounts", "AccountStores", "SQLiteLog",
        "Relay", "Wire", "WebSocket", "Platform", "TLS", "YAML", "Mixing", "CJWT", "TestSupport",
        logging,
      ]),
    tests(
      "Client",
      [
        "Client", "EventLoop", "WebSocket", "Wire", "Platform", "TLS", "Mixing", "WschatCommand",
        "TestSupport",
      ]),
    tests(
      "EndToEnd",
      [
        "Client", "ConversationExample", "EventLoop", "WebSocket", "Wire", "Platform",
        "RelayCommand", "WschatCommand", "TestSupport",
      ], excluding: ["Peers"]),
    tests(
      "Swarm",
      [
        "Swarm", "Client", "EventLoop", "WebSocket", "Wire", "Platform", "Mixing", "YAML",
        "SwarmCommand", "RelayCommand", "TestSupport",
      ],
      excluding: ["Peers"]),
  ],
  swiftLanguageModes: [.v6]
)
