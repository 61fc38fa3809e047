import Relay
import TestSupport
import Wire

@testable import Imports

/// A made-up export of another chat, and what an import makes of it.
struct ExportFixture {
  let folder: TemporaryFolder
  var chat = ChatImport()
  var existing: Set<String> = []

  init() throws { folder = try TemporaryFolder() }

  /// The path of the export, a folder.
  var path: String { folder["export"] }

  func write(_ text: String, to name: String) throws {
    try folder.write(text, to: "export/\(name)")
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try folder.write(bytes, to: "export/\(name)")
  }

  /// The converted lines, which an importer would take.
  struct Converted {
    var lines: [ImportLine] = []
    var report = ""

    var entries: [Entry] {
      lines.compactMap { if case .entry(let line) = $0 { line.entry } else { nil } }
    }

    func texts(in room: String) -> [String] {
      entries.filter { $0.room == room && $0.kind == .text }.compactMap(\.text)
    }

    func senders(in room: String) -> [String] {
      entries.filter { $0.room == room && $0.kind == .text }.map(\.from)
    }

    var rooms: Set<String> { Set(entries.map(\.room)) }
  }

  /// - Parameter path: by default the folder.
  func convert(_ origin: ChatImport.Origin, _ path: String? = nil) throws -> Converted {
    var converted = Converted()
    let report = try chat.convert(path ?? self.path, from: origin, existing: existing) { next in
      while let line = try next() { converted.lines.append(try ImportLine(decoding: line)) }
    }
    converted.report = report.text
    return converted
  }

  func failure(_ origin: ChatImport.Origin, _ path: String? = nil) -> UnreadableExport? {
    do {
      _ = try convert(origin, path)
      return nil
    } catch { return error as? UnreadableExport }
  }

  /// Makes an archive by Python's zipfile.
  func archive(_ script: String) throws -> String {
    let path = folder["export.zip"]
    try folder.write(
      "import zipfile\nz = zipfile.ZipFile('\(path)', 'w', zipfile.ZIP_DEFLATED)\n\(script)\nz.close()\n",
      to: "make.py")
    try run("/usr/bin/python3", folder["make.py"])
    return path
  }
}
