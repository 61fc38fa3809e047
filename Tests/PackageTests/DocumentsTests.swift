import Glibc
import TestSupport
import Testing

/// Documents and manuals, except for their commands: EndToEndTests, ServerTests and SwarmTests
/// run the examples.
@Suite struct `Documents` {
  @Test(arguments: Document.all.filter(\.isMarkdown).map(\.name))
  func `every link within the repository leads to a file`(name: String) throws {
    let folder = name.split(separator: "/").dropLast().joined(separator: "/")
    for line in try SourceFile(path: Project[name]).lines() {
      for link in Self.links(in: line) where !link.contains(":") && !link.hasPrefix("#") {
        let path = "\(Project.path)/\(folder)/\(link.prefix { $0 != "#" })"
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

  // MARK: - Blocks of code

  @Test func `there are documents and manuals`() {
    let names = Document.all.map(\.name)
    for name in ["README.md", "docs/operations.md", "Sources/Commands/RelayCommand/relay.1"] {
      #expect(names.contains(name))
    }
  }

  @Test(arguments: Document.all.flatMap(\.blocks))
  func `a block of code is run as a test, or a comment says why not`(block: DocumentBlock) {
    #expect(block.use != nil, "\(block): \(block.lines.first ?? "")")
    if case .notRun(let reason) = block.use { #expect(!reason.isEmpty) }
  }

  @Test(arguments: Document.all.filter(\.isMarkdown))
  func `a block of code is fenced, so that it is found`(document: Document) throws {
    var isInBlock = false
    var isAfterBlank = false
    for line in try SourceFile(path: Project[document.name]).lines() {
      if line.drop(while: { $0 == " " }).hasPrefix("```") { isInBlock.toggle() }
      let isCode = isAfterBlank && !isInBlock && line.hasPrefix("    ")
      #expect(!isCode, "\(document.name): \(line)")
      isAfterBlank = line.isEmpty
    }
  }

  @Test func `every program has a test of its own`() {
    let programs = DocumentBlock.all(.program).map { "\($0.document) \($0.language)" }
    // `Examples in documents` in EndToEndTests, and documents.test.js in Tests/JavaScript.
    #expect(
      Set(programs) == [
        "docs/javascript.md javascript", "docs/protocol.md js", "docs/protocol.md python",
      ])
  }

  @Test(arguments: DocumentBlock.all(where: { if case .quotation = $0 { true } else { false } }))
  func `a quotation is in the file that it names`(block: DocumentBlock) throws {
    guard case .quotation(let file)? = block.use else { return }
    func unindented(_ lines: [some StringProtocol]) -> [String] {
      lines.map { String($0.drop { $0 == " " || $0 == "\t" }) }
    }
    let text = try SourceFile(path: Project[file]).lines()
    #expect(unindented(text).contains(unindented(block.lines)), "\(block), \(file)")
  }

  /// The targets of links and pictures, `[text](target)`.
  private static func links(in line: String) -> [Substring] {
    line.split(separator: "](").dropFirst().map { $0.prefix { $0 != ")" } }
  }
}
