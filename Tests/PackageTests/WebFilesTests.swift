import TestSupport
import Testing

/// The files of the web page, which a C file embeds by name.
@Suite struct `Embedded files` {
  @Test(arguments: [
    ("Sources/Web/page", "../page/", ""),
    ("Sources/JavaScript/relay-client", "../../JavaScript/relay-client/", "relay-client/"),
  ])
  func `are all files of the page and of the library`(
    folder: String, path: String, prefix: String
  ) throws {
    let lines = try SourceFile(path: Project["Sources/Web/CWeb/CWeb.c"]).lines()
    let names = Folder.package.folder(folder).fileNames
    for name in names {
      #expect(lines.contains("#embed \"\(path)\(name)\""), "\(folder)/\(name)")
      #expect(lines.contains { $0.hasPrefix("    {\"\(prefix)\(name)\", ") }, "\(folder)/\(name)")
    }
  }
}
