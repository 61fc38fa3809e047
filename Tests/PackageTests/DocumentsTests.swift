import Glibc
import Testing

/// What the documents say of the repository is there.
@Suite struct `Documents` {
  private static let names =
    ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LoadTests/README.md"]
    + [
      "architecture", "guarantees", "security", "operations", "messenger", "load-testing",
      "protocol",
    ].map { "docs/\($0).md" }

  @Test(arguments: names)
  func `every link within the repository leads to a file`(name: String) throws {
    let folder = name.split(separator: "/").dropLast().joined(separator: "/")
    for line in try SourceFile(path: "\(Folder.package.path)/\(name)").lines() {
      for link in Self.links(in: line) where !link.contains(":") && !link.hasPrefix("#") {
        let path = "\(Folder.package.path)/\(folder)/\(link.prefix { $0 != "#" })"
        #expect(unsafe access(path, R_OK) == 0, "\(name): \(link)")
      }
    }
  }

  @Test func `the steps of a send and of a join are in the files that docs/architecture names`()
    throws
  {
    var steps = 0
    for line in try SourceFile(path: "\(Folder.package.path)/docs/architecture.md").lines() {
      let cells = line.split(separator: "|")
      guard cells.count == 4, let link = Self.links(in: line).first, link.hasSuffix(".swift") else {
        continue
      }
      let file = SourceFile(path: "\(Folder.package.path)/docs/\(link)")
      let text = try file.lines().joined(separator: "\n")
      // In the last cell, between backticks: `write`, `Connection.next`, `init(decoding:)`.
      let code = cells[3].split(separator: "`", omittingEmptySubsequences: false)
      for (place, name) in code.enumerated() where place % 2 == 1 {
        let own = name.prefix { $0 != "(" }.split(separator: ".").last ?? ""
        let isThere = text.contains(own)
        #expect(isThere, "\(link) has no \(name)")
      }
      steps += 1
    }
    #expect(steps >= 20)
  }

  @Test func `the README is a page or two`() throws {
    let lines = try SourceFile(path: "\(Folder.package.path)/README.md").lines()
    #expect(lines.count <= 150)
  }

  /// The targets of links and pictures, `[text](target)`.
  private static func links(in line: String) -> [Substring] {
    line.split(separator: "](").dropFirst().map { $0.prefix { $0 != ")" } }
  }
}
