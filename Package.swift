// swift-tools-version: 6.2
import PackageDescription

/// Whether the fuzzer is built, which has to be linked with libFuzzer; see Tests/Fuzz.
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

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
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
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let histogram: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")

let package = Package(
  name: "relay",
  products: [
    .executable(name: "relay", targets: ["RelayCommand"]),
    .executable(name: "wschat", targets: ["WschatCommand"]),
    .executable(name: "swarm", targets: ["SwarmCommand"]),
    .executable(name: "append-bench", targets: ["AppendBench"]),
    .executable(name: "simulate", targets: ["SimulateCommand"]),
    .executable(name: "conformance-client", targets: ["ConformanceClient"]),
    .library(name: "WebSocket", targets: ["WebSocket"]),
    .library(name: "Client", targets: ["Client"]),
    .library(name: "PowerLossRecorder", type: .dynamic, targets: ["PowerLossRecorder"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(
      url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
  ],
  targets: [
    // What the system provides, as modules.
    .target(name: "CLinux"),
    .target(name: "CTerminal"),
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CJWT", pkgConfig: "libjwt", providers: [.apt(["libjwt-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    // Not by pkg-config, whose flags for it SwiftPM warns about; its header lies where all do.
    .systemLibrary(name: "CUtf8proc", providers: [.apt(["libutf8proc-dev"])]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    // Pure: no clock, no descriptor, no thread, no Foundation.
    module("Mixing"),
    module("WebSocket", ["CZlib"]),
    module("Wire"),
    module("Relay", ["Wire", "Mixing", deque, heap]),
    module("Gateway", ["WebSocket", "Wire", "Relay", "Mixing"]),

    // The edge, from the system upwards.
    module("Mailbox", ["CLinux"]),
    module("EventLoop", ["Mailbox", "CLinux", heap]),
    module("TLS", ["COpenSSL"]),
    module("SQLite", ["CSQLite"]),
    module("SQLiteLog", ["Relay", "Mailbox", "SQLite", "CSQLite", deque]),
    module("YAML", ["CYAML"]),
    module("Directories", ["Relay", "Wire", "Mailbox", "YAML", "CCurl", deque]),
    module("Bots", ["Wire", "Mixing", logging, subprocess]),
    module(
      "Server",
      [
        "Gateway", "WebSocket", "Wire", "Relay", "Mailbox", "EventLoop", "TLS", "SQLiteLog", "Bots",
        "Directories", "YAML", "Mixing", "CJWT", "COpenSSL", logging, deque,
      ]),
    module("Client", ["WebSocket", "EventLoop", "Mailbox", "TLS", "Wire", "Mixing", deque]),

    // The screen of a terminal, and the messenger on it.
    module("Terminal", ["CTerminal", "CUtf8proc", "Mailbox"]),
    module("Messenger", ["Terminal", "Client", "Wire", "YAML", "Mixing"]),

    // What the messenger keeps on disk.
    module("Archive", ["Wire", "Mailbox", "Mixing", "SQLite", "CSQLite"]),

    command(
      "RelayCommand", folder: "Sources/RelayCommand",
      ["Server", "SQLiteLog", "EventLoop", "Mailbox", argumentParser], excluding: ["relay.1"]),
    command(
      "WschatCommand", folder: "Sources/wschat",
      [
        "Archive", "Client", "EventLoop", "Mailbox", "Messenger", "Terminal", "TLS", "Wire",
        argumentParser,
      ], excluding: ["wschat.1"]),

    // The load test: its logic as a module of its own, so that it can be tested.
    .target(
      name: "Swarm",
      dependencies: [
        "Client", "EventLoop", "Mailbox", "Wire", "WebSocket", "YAML", "Mixing", "CLinux",
        histogram,
      ], path: "LoadTests/swarm/Swarm", swiftSettings: strict),
    command(
      "SwarmCommand", folder: "LoadTests/swarm/Command", ["Swarm", argumentParser]),
    // Preloaded into the relay by `swarm`, which finds it beside itself.
    .target(name: "PowerLossRecorder", path: "LoadTests/powerloss"),

    // The log by itself, without the relay around it.
    command(
      "AppendBench", folder: "LoadTests/append",
      ["SQLiteLog", "Relay", "Wire", "Mailbox", argumentParser]),

    // What an adversary says and what it may cost, for the simulation and for the fuzzer.
    .target(
      name: "Hostile", dependencies: ["Relay", "Wire"], path: "Tests/Hostile",
      swiftSettings: strict),

    // The simulation: everything on one clock, with faults, from a seed.
    .target(
      name: "Simulation",
      dependencies: [
        "Gateway", "Relay", "Wire", "WebSocket", "SQLiteLog", "Client", "EventLoop", "Mailbox",
        "CSQLite", "Hostile", "Mixing", deque, heap,
      ], path: "Tests/Simulation/Simulation", swiftSettings: strict),
    command(
      "SimulateCommand", folder: "Tests/Simulation/Command", ["Simulation", argumentParser]),

    // What the Autobahn suite tests of the client: see Tests/Conformance.
    command(
      "ConformanceClient", folder: "Tests/Conformance/Client",
      ["Client", "EventLoop", "Mailbox", "WebSocket", argumentParser]),

    // The fuzzer: what it checks is a module of its own, which replays its inputs as a test.
    .target(
      name: "FuzzTargets", dependencies: ["WebSocket", "Wire", "Relay", "Server", "Hostile"],
      path: "Tests/Fuzz/Targets", swiftSettings: strict),

    tests("Package", []),
    tests("Fuzz", ["FuzzTargets", "WebSocket"]),
    tests("Simulation", ["Simulation", "SimulateCommand", "Wire", "CSQLite"]),
    tests("Mixing", ["Mixing"]),
    tests("WebSocket", ["WebSocket", "Mixing"], excluding: ["RecordedCases.txt"]),
    tests("Wire", ["Wire", "Mixing"]),
    tests("Relay", ["Relay", "Wire", "Mixing"]),
    tests("Gateway", ["Gateway", "Relay", "WebSocket"]),
    tests("Mailbox", ["Mailbox"]),
    tests("EventLoop", ["EventLoop", "Mailbox"]),
    tests("TLS", ["TLS", "COpenSSL"]),
    tests("SQLiteLog", ["SQLiteLog", "Relay", "Wire", "Mailbox", "Mixing", "CSQLite"]),
    tests("YAML", ["YAML"]),
    tests(
      "Directories", ["Directories", "Relay", "Wire", "Mailbox"], excluding: ["directory.py"]),
    tests("Terminal", ["Terminal", "Mailbox", "Mixing"]),
    tests(
      "Messenger", ["Messenger", "Terminal", "Client", "EventLoop", "Wire", "YAML", "Mixing"]),
    tests("Archive", ["Archive", "Relay", "Wire", "Mixing", "CSQLite"]),
    tests("Bots", ["Bots", "Wire", logging]),
    tests(
      "Server",
      [
        "Server", "Gateway", "Relay", "Wire", "Bots", "Directories", "WebSocket", "EventLoop",
        "Mailbox", "TLS", "YAML", "Mixing", "CJWT", logging,
      ]),
    tests("Client", ["Client", "EventLoop", "WebSocket", "Wire", "Mixing", "WschatCommand"]),
    tests(
      "EndToEnd",
      [
        "Client", "EventLoop", "WebSocket", "Wire", "Mailbox", "RelayCommand", "WschatCommand",
      ], excluding: ["Peers"]),
    tests(
      "Swarm",
      ["Swarm", "EventLoop", "WebSocket", "Wire", "Mixing", "SwarmCommand", "RelayCommand"],
      excluding: ["Peers"]),
  ]
    + (fuzzes ? [command("fuzz", folder: "Tests/Fuzz/Command", ["FuzzTargets"])] : []),
  swiftLanguageModes: [.v6]
)
