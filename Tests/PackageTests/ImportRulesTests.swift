import Testing

/// The arrows of the design, as a test over the sources and Package.swift: SwiftPM itself lets a module
/// import any module that has been built.
@Suite struct `Imports point downwards only` {
  /// The layers from below.
  static let layers: [Set<Substring>] = [
    ["Protocol"], ["Engine"], ["System"], ["Server", "Client"], ["Commands"], ["swarm", "Web"],
  ]

  static func height(_ layer: Substring) -> Int {
    layers.firstIndex { $0.contains(layer) } ?? layers.count
  }

  /// Besides its dependencies, these are allowed in any module, and `Glibc` outside the pure ones.
  static let anywhere: Set<String> = [
    "Synchronization", "DequeModule", "HeapModule", "OrderedCollections",
  ]

  /// The load test's modules are in a folder of their own.
  static func folder(of module: String) -> Folder {
    Folder.package.folder(module.hasPrefix("swarm/") ? "LoadTests" : "Sources").folder(module)
  }

  @Test func `Package.swift declares every Swift module`() throws {
    let sources = Folder.package.folder("Sources")
    let loadTests = Folder.package.folder("LoadTests").folder("swarm").folders
    let modules =
      (sources.folders.flatMap { layer in
        sources.folder(layer).folders.map { "\(layer)/\($0)" }
      } + loadTests.map { "swarm/\($0)" })
      .filter { !Self.folder(of: $0).swiftFiles.isEmpty }
    #expect(Set(modules) == Set(Manifest.modules.map(\.folder) + ["Web/Plugin"]))
  }

  @Test func `a module depends on its own layer and on lower ones`() {
    for module in Manifest.modules {
      for other in Manifest.modules where module.dependencies.contains(other.name) {
        let isBelow = Self.height(other.layer) < Self.height(module.layer)
        #expect(
          isBelow || other.layer == module.layer, "\(module.folder) depends on \(other.folder)")
      }
    }
  }

  /// Such a checkout loses files on the file systems of Macs and of Windows.
  @Test(arguments: ["Sources", "Tests", "LoadTests", "config"])
  func `no two names in a folder differ only in case`(folder: String) {
    #expect(Folder.package.folder(folder).clashes == [])
  }

  @Test(arguments: Manifest.modules)
  func `a module imports its dependencies, and nothing else`(module: Manifest.Module) throws {
    var allowed = module.dependencies.union(Self.anywhere)
    if Self.height(module.layer) > 1 { allowed.insert("Glibc") }
    let files = Self.folder(of: module.folder).swiftFiles
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
