import Testing

/// The allowed imports of each module: the arrows of the design, as a test over the sources.
@Suite struct `Imports point downwards only` {
  /// Besides these, `Synchronization` and Collections are allowed anywhere, and `Glibc` outside the
  /// pure modules.
  static let allowed: [String: Set<String>] = [
    "Protocol/WebSocket": ["CZlib"],
    "Protocol/Wire": [],
    "Engine/Mixing": [],
    "Engine/Folding": ["CUtf8proc"],
    "Engine/Relay": ["Wire", "Mixing", "Folding"],
    "Engine/Gateway": ["WebSocket", "Wire", "Relay", "Mixing"],
    "System/Platform": ["CLinux"],
    "System/EventLoop": ["Platform", "CLinux"],
    "System/TLS": ["Platform", "COpenSSL"],
    "System/SQLite": ["Platform", "CSQLite"],
    "System/Postgres": ["CPostgres"],
    "System/YAML": ["CYAML"],
    "Server/SQLiteLog": ["Relay", "Wire", "Platform", "SQLite", "CSQLite"],
    "Server/PostgresLog": ["Relay", "Wire", "Platform", "Postgres"],
    "Server/Directories": ["Relay", "Wire", "Platform", "YAML", "CCurl"],
    "Server/Bots": ["Wire", "Mixing", "Platform", "Logging", "Subprocess"],
    "Server/RelayConfiguration": ["Directories", "Relay", "Platform", "YAML"],
    "Server/Server": [
      "RelayConfiguration", "Gateway", "WebSocket", "Wire", "Relay", "Platform", "EventLoop",
      "TLS", "SQLiteLog", "PostgresLog", "Bots", "Directories", "YAML", "Mixing", "CJWT",
      "COpenSSL", "Logging",
    ],
    "Client/Client": ["WebSocket", "EventLoop", "Platform", "TLS", "Wire", "Mixing"],
    "Client/Archive": ["Wire", "Platform", "Mixing", "Folding", "SQLite", "CSQLite"],
    "Client/Pictures": ["CZlib"],
    "Client/Terminal": ["CTerminal", "CUtf8proc", "Platform"],
    "Client/Messenger": ["Archive", "Terminal", "Client", "Wire", "YAML", "Mixing", "Folding"],
    "Commands/CommandMain": ["Platform", "ArgumentParser"],
    "Commands/RelayCommand": [
      "CommandMain", "Server", "RelayConfiguration", "Directories", "SQLiteLog", "Relay",
      "EventLoop", "Platform", "Wire", "ArgumentParser",
    ],
    "Commands/WschatCommand": [
      "CommandMain", "Archive", "Client", "EventLoop", "Platform", "Messenger", "Mixing",
      "Pictures", "Terminal", "TLS", "Wire", "ArgumentParser",
    ],
    "Web/Bundler": ["Mixing", "CZlib"],
    "Web/Plugin": ["Foundation", "PackagePlugin"],
    "swarm/Swarm": [
      "Client", "EventLoop", "Platform", "Postgres", "Terminal", "Wire", "WebSocket", "YAML",
      "Mixing", "Histogram", "CLinux",
    ],
    "swarm/Command": ["CommandMain", "Swarm", "Platform", "ArgumentParser"],
  ]
  static func isPure(_ module: String) -> Bool {
    module.hasPrefix("Protocol/") || module.hasPrefix("Engine/")
  }
  static let anywhere: Set<String> = [
    "Synchronization", "DequeModule", "HeapModule", "OrderedCollections",
  ]

  /// The load test's modules lie in a folder of their own.
  static func folder(of module: String) -> Folder {
    Folder.package.folder(module.hasPrefix("swarm/") ? "LoadTests" : "Sources").folder(module)
  }

  @Test func `every Swift module has a rule, and every rule a module`() throws {
    let sources = Folder.package.folder("Sources")
    let loadTests = Folder.package.folder("LoadTests").folder("swarm").folders
    let modules =
      (sources.folders.flatMap { layer in
        sources.folder(layer).folders.map { "\(layer)/\($0)" }
      } + loadTests.map { "swarm/\($0)" })
      .filter { !Self.folder(of: $0).swiftFiles.isEmpty }
    #expect(Set(modules) == Set(Self.allowed.keys))
  }

  /// Such a checkout loses files on the file systems of Macs and of Windows.
  @Test(arguments: ["Sources", "Tests", "LoadTests", "config"])
  func `no two names in a folder differ only in case`(folder: String) {
    #expect(Folder.package.folder(folder).clashes == [])
  }

  @Test(arguments: allowed.keys.sorted())
  func `a module imports what the design allows it, and nothing else`(module: String) throws {
    var allowed = try #require(Self.allowed[module]).union(Self.anywhere)
    if !Self.isPure(module) { allowed.insert("Glibc") }
    let files = Self.folder(of: module).swiftFiles
    #expect(!files.isEmpty)
    for file in files {
      for name in Self.imports(of: try file.lines()) {
        #expect(allowed.contains(name), "\(file.path) imports \(name)")
      }
    }
  }

  @Test func `an import is found in any spelling`() {
    let lines = [
      "import A", "public import B", "@preconcurrency internal import C",
      "import struct D.Thing", "// import E", "  let text = \"import F\"", "@testable import G",
    ]
    #expect(Self.imports(of: lines) == ["A", "B", "C", "D", "G"])
  }

  static func imports(of lines: [String]) -> [String] {
    lines.compactMap { line in
      var words = line.split(separator: " ")
      while let first = words.first,
        first.hasPrefix("@")
          || ["public", "internal", "package", "private", "fileprivate"].contains(first)
      {
        words.removeFirst()
      }
      guard words.first == "import", words.count > 1 else { return nil }
      let kinds = ["struct", "class", "enum", "protocol", "func", "let", "var", "typealias"]
      let name = kinds.contains(String(words[1])) && words.count > 2 ? words[2] : words[1]
      return String(name.prefix { $0 != "." })
    }
  }
}
