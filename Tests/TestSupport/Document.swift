/// A document of this project, Markdown or a manual page, with its blocks of code.
public struct Document: Sendable, CustomStringConvertible {
  /// The path within the project.
  public let name: String
  public let text: String
  public let blocks: [DocumentBlock]

  /// Every document of the project.
  public static let all: [Document] = {
    do {
      return try names(in: "").map(Document.init)
    } catch {
      fatalError("documents cannot be read: \(error)")
    }
  }()

  public init(_ name: String) throws {
    self.name = name
    text = try readFile(Project[name])
    blocks =
      name.hasSuffix(".md")
      ? Self.blocks(inMarkdown: text, of: name) : Self.blocks(inManual: text, of: name)
  }

  public var description: String { name }

  public var isMarkdown: Bool { name.hasSuffix(".md") }

  /// The pieces of code within the prose of a Markdown document: `like this`.
  public var codeSpans: [String] {
    var isInBlock = false
    let prose = text.split(separator: "\n").filter { line in
      let isFence = line.drop { $0 == " " }.hasPrefix("```")
      defer { if isFence { isInBlock.toggle() } }
      return !isFence && !isInBlock
    }
    let parts = prose.joined(separator: " ").split(separator: "`", omittingEmptySubsequences: false)
    return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
  }

  /// Returns the block in this language, if there is exactly one.
  public func block(in language: String) throws -> DocumentBlock {
    let blocks = blocks.filter { $0.language == language }
    guard blocks.count == 1 else {
      throw Unexpected("\(name) has \(blocks.count) blocks in \(language)")
    }
    return blocks[0]
  }

  private static func names(in folder: String) throws -> [String] {
    try fileNames(in: Project[folder]).filter { !$0.hasPrefix(".") }.flatMap { name in
      let path = folder.isEmpty ? name : "\(folder)/\(name)"
      if name.hasSuffix(".md") || name.hasSuffix(".1") { return [path] }
      // A name with a dot is that of a file, except for the folders of articles.
      return name.contains(".") && !name.hasSuffix(".docc") ? [] : (try? names(in: path)) ?? []
    }
  }

  // MARK: - Markdown

  private static func blocks(inMarkdown text: String, of name: String) -> [DocumentBlock] {
    var blocks: [DocumentBlock] = []
    var block: DocumentBlock?
    var indentation = 0
    var comment: [String] = []
    var isInComment = false
    for (index, whole) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let line = whole.drop { $0 == " " }
      if let open = block {
        if line == "```" {
          blocks.append(open)
          block = nil
          comment = []
        } else {
          block?.lines.append(String(whole.dropFirst(min(indentation, whole.count - line.count))))
        }
      } else if isInComment {
        isInComment = line != "-->"
        if isInComment { comment.append(String(whole)) }
      } else if line == "<!--" {
        isInComment = true
      } else if line.hasPrefix("<!-- "), line.hasSuffix(" -->") {
        comment = [String(line.dropFirst(5).dropLast(4))]
      } else if line.hasPrefix("```") {
        indentation = whole.count - line.count
        block = DocumentBlock(
          document: name, line: index + 2, language: String(line.dropFirst(3)), comment: comment)
      } else if !line.isEmpty {
        comment = []
      }
    }
    return blocks
  }

  // MARK: - Manual pages

  /// Displays of mdoc(7): `.Bd -literal` to `.Ed`, and `.Dl`. In the section EXAMPLES they are
  /// commands.
  private static func blocks(inManual text: String, of name: String) -> [DocumentBlock] {
    var blocks: [DocumentBlock] = []
    var block: DocumentBlock?
    var section: Substring = ""
    var comment: [String] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let language = section == "EXAMPLES" ? "sh" : "yaml"
      if let open = block {
        if line == ".Ed" {
          blocks.append(open)
          block = nil
          comment = []
        } else {
          block?.lines.append(unescaped(line))
        }
      } else if line.hasPrefix(".Bd -literal") {
        block = DocumentBlock(
          document: name, line: index + 2, language: language, comment: comment)
      } else if line.hasPrefix(".Dl ") {
        blocks.append(
          DocumentBlock(
            document: name, line: index + 1, language: language,
            lines: [unescaped(line.dropFirst(4))],
            comment: comment))
        comment = []
      } else if line.hasPrefix(#".\" "#) {
        comment = [String(line.dropFirst(4))]
      } else {
        if line.hasPrefix(".Sh ") { section = line.dropFirst(4) }
        comment = []
      }
    }
    return blocks
  }

  private static func unescaped(_ line: Substring) -> String {
    line.split(separator: #"\&"#, omittingEmptySubsequences: false).joined()
      .split(separator: #"\e"#, omittingEmptySubsequences: false).joined(separator: #"\"#)
  }
}
