import Glibc
import Testing

/// Which module may know which: the arrows of the design, as a test over the sources.
@Suite struct `Imports point downwards only` {
  /// Besides these, `Synchronization` and Collections are allowed anywhere, and `Glibc` outside the
  /// pure modules.
  static let allowed: [String: Set<String>] = [
    "Mixing": [],
    "WebSocket": ["CZlib"],
    "Wire": [],
    "Relay": ["Wire", "Mixing"],
    "Mailbox": ["CLinux"],
    "EventLoop": ["Mailbox", "CLinux"],
    "TLS": ["COpenSSL"],
    "SQLite": ["CSQLite"],
    "SQLiteLog": ["Relay", "Wire", "Mailbox", "SQLite", "CSQLite"],
    "YAML": ["CYAML"],
    "Directories": ["Relay", "Wire", "Mailbox", "YAML", "CCurl"],
    "Bots": ["Wire", "Mixing", "Logging", "Subprocess"],
    "Server": [
      "WebSocket", "Wire", "Relay", "Mailbox", "EventLoop", "TLS", "SQLiteLog", "Bots",
      "Directories", "YAML", "Mixing", "CJWT", "COpenSSL", "Logging",
    ],
    "Client": ["WebSocket", "EventLoop", "Mailbox", "TLS", "Wire", "Mixing"],
    "Terminal": ["CTerminal", "CUtf8proc", "Mailbox"],
    "Messenger": ["Terminal", "Client", "Wire", "YAML", "Mixing"],
    "Archive": ["Wire", "Mailbox", "Mixing", "SQLite", "CSQLite"],
    "RelayCommand": ["Server", "SQLiteLog", "EventLoop", "Mailbox", "ArgumentParser"],
    "wschat": [
      "Archive", "Client", "EventLoop", "Mailbox", "Messenger", "Terminal", "TLS", "Wire",
      "ArgumentParser",
    ],
    "swarm/Swarm": [
      "Client", "EventLoop", "Mailbox", "Wire", "WebSocket", "YAML", "Mixing", "Histogram",
      "CLinux",
    ],
    "swarm/Command": ["Swarm", "ArgumentParser"],
  ]
  static let pure: Set<String> = ["Mixing", "WebSocket", "Wire", "Relay"]
  static let anywhere: Set<String> = ["Synchronization", "DequeModule", "HeapModule"]

  /// This file is Tests/PackageTests/ImportRulesTests.swift.
  static let package = Folder(
    #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined())

  /// The load test's modules lie in a folder of their own.
  static func folder(of module: String) -> Folder {
    package.folder(module.hasPrefix("swarm/") ? "LoadTests" : "Sources").folder(module)
  }

  @Test func `every Swift module has a rule, and every rule a module`() throws {
    let sources = Self.package.folder("Sources").folders
    let loadTests = Self.package.folder("LoadTests").folder("swarm").folders
    let modules = (sources + loadTests.map { "swarm/\($0)" })
      .filter { !Self.folder(of: $0).swiftFiles.isEmpty }
    #expect(Set(modules) == Set(Self.allowed.keys))
  }

  /// Such a checkout loses files on the file systems of Macs and of Windows.
  @Test(arguments: ["Sources", "Tests", "LoadTests", "config"])
  func `no two names in a folder differ in nothing but case`(folder: String) {
    #expect(Self.package.folder(folder).clashes == [])
  }

  @Test(arguments: allowed.keys.sorted())
  func `a module imports what the design allows it, and nothing else`(module: String) throws {
    var allowed = try #require(Self.allowed[module]).union(Self.anywhere)
    if !Self.pure.contains(module) { allowed.insert("Glibc") }
    let files = Self.folder(of: module).swiftFiles
    #expect(!files.isEmpty)
    for file in files {
      for name in Self.imports(of: try file.lines()) {
        #expect(allowed.contains(name), "\(file.path) imports \(name)")
      }
    }
  }

  @Test func `an import is found however it is written`() {
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

/// A folder of the project.
struct Folder {
  let path: String

  init(_ path: String) { self.path = path }

  func folder(_ name: String) -> Folder { Folder("\(path)/\(name)") }

  var folders: [String] { entries.filter { $0.isFolder }.map(\.name) }

  /// Also those of the folders within.
  var swiftFiles: [SourceFile] {
    entries.flatMap { entry -> [SourceFile] in
      if entry.isFolder { return folder(entry.name).swiftFiles }
      return entry.name.hasSuffix(".swift") ? [SourceFile(path: "\(path)/\(entry.name)")] : []
    }
  }

  /// Names that are another one's in the same folder but for case, also in the folders within.
  var clashes: [String] {
    let names = Dictionary(grouping: entries.map(\.name)) { $0.lowercased() }
    let here = names.values.filter { $0.count > 1 }.flatMap { $0 }.sorted()
    return here.map { "\(path)/\($0)" } + folders.flatMap { folder($0).clashes }
  }

  private var entries: [(name: String, isFolder: Bool)] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var entries: [(name: String, isFolder: Bool)] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name.hasPrefix(".") { continue }
      entries.append((name, unsafe entry.pointee.d_type == UInt8(DT_DIR)))
    }
    return entries.sorted { $0.name < $1.name }
  }
}

/// One file of the project.
struct SourceFile {
  let path: String

  func lines() throws -> [String] {
    guard let file = unsafe fopen(path, "r") else { throw UnreadableFile(path: path) }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, file)
      if count == 0 { break }
      bytes.append(contentsOf: chunk[..<count])
    }
    return String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  struct UnreadableFile: Error { var path: String }
}
