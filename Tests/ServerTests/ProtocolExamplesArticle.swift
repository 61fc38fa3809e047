import Glibc
import TestSupport
import Testing

/// The documentation of the wire protocol: what its readers see, and what is tried of it.
///
/// An example is a fenced block with lines `→ {…}` (from the client) and `← {…}` (from the relay);
/// an indented line continues the one before it. With several clients a line begins with who it
/// is about: `bo ← {…}`; without a name it is `ada`. `← close 4401` is a close.
///
/// A comment right before the block sets the stage. It holds lines of the same kind, which are
/// played first and checked as well, and settings: `keep_entries_per_room: 2`, and
/// `eve /ws?token=x`, how that user connects instead of by `?user=`, and `token eyJ…1 {"sub":"ada"}`,
/// what a token says that the example cuts short; the relay then takes tokens, and them alone. A
/// `welcome` that no line shows is passed over, and so is nothing else.
struct Article {
  struct Block {
    /// Of the block's first line in the file, for reports.
    var line: Int
    var language: String
    var lines: [String]
    /// The comment before it.
    var comment: [String]
  }

  let name: String
  let text: String
  let blocks: [Block]

  static let sources = Project["Sources/Protocol/Wire"]

  static let names = ["Wire", "Protocol", "Resuming", "FirstClient"]

  init(_ name: String) throws {
    self.name = name
    text = try readFile("\(Self.sources)/Wire.docc/\(name).md")
    blocks = Self.blocks(in: text)
  }

  private static func blocks(in text: String) -> [Block] {
    var blocks: [Block] = []
    var block: Block?
    var comment: [String] = []
    var isInComment = false
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      if let open = block {
        if line == "```" {
          blocks.append(open)
          block = nil
          comment = []
        } else {
          block?.lines.append(String(line))
        }
      } else if isInComment {
        isInComment = line != "-->"
        if isInComment { comment.append(String(line)) }
      } else if line == "<!--" {
        isInComment = true
      } else if line.hasPrefix("```") {
        block = Block(
          line: index + 2, language: String(line.dropFirst(3)), lines: [], comment: comment)
      } else if !line.isEmpty {
        comment = []
      }
    }
    return blocks
  }

  /// Which of these do not stand in it.
  func lacks(_ parts: [String]) -> [String] { parts.filter { !text.contains($0) } }

  /// The program in this language that the article has.
  func program(in language: String) throws -> String {
    let programs = blocks.filter { $0.language == language }
    guard programs.count == 1 else {
      throw Unexpected("\(name).md has \(programs.count) programs in \(language)")
    }
    return programs[0].lines.joined(separator: "\n") + "\n"
  }
}

/// An example, ready to be played.
struct Transcript: CustomTestStringConvertible {
  enum Step {
    case send(String)
    case receive(JSON)
    case close(UInt16)
  }
  struct Line {
    /// `Protocol.md:12`
    var place: String
    var user: String
    var step: Step
  }

  let place: String
  var lines: [Line] = []
  var keepEntriesPerRoom = 0
  /// How users connect that do not by `?user=`.
  var targets: [String: String] = [:]
  /// What tokens say, by what is shown in their place.
  var tokens: [String: String] = [:]

  /// Why there is nothing to play.
  var unreadable: (any Error)?

  var testDescription: String { place }

  /// Every example of every article; what cannot be read is for the test to report.
  static let all: [Transcript] = Article.names.flatMap { name -> [Transcript] in
    do {
      let article = try Article(name)
      return article.blocks.filter(isTranscript).map { Transcript($0, of: article) }
    } catch {
      return [Transcript(place: "\(name).md", unreadable: error)]
    }
  }

  private static func isTranscript(_ block: Article.Block) -> Bool {
    block.lines.contains { $0.contains("→ ") || $0.contains("← ") }
  }

  private init(place: String, unreadable: any Error) {
    self.place = place
    self.unreadable = unreadable
  }

  private init(_ block: Article.Block, of article: Article) {
    place = "\(article.name).md:\(block.line)"
    do {
      try read(block, of: article)
    } catch {
      unreadable = error
    }
  }

  private mutating func read(_ block: Article.Block, of article: Article) throws {
    var stage: [String] = []
    for line in block.comment {
      if let value = line.dropping("keep_entries_per_room: ") {
        guard let entries = Int(value) else { throw Unexpected("not a number: \(line)") }
        keepEntriesPerRoom = entries
      } else if let token = line.dropping("token ") {
        let words = token.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { throw Unexpected("a token without claims: \(line)") }
        tokens[String(words[0])] = String(words[1])
      } else if let slash = line.firstRange(of: " /") {
        targets[String(line[..<slash.lowerBound])] = "/" + line[slash.upperBound...]
      } else {
        stage.append(line)
      }
    }
    for line in Self.joined(stage) { try add(line.text, "\(place) (before it)") }
    for line in Self.joined(block.lines) {
      try add(line.text, "\(article.name).md:\(block.line + line.index)")
    }
  }

  private static func joined(_ lines: [String]) -> [(text: String, index: Int)] {
    var joined: [(text: String, index: Int)] = []
    for (index, line) in lines.enumerated() where !line.isEmpty {
      if line.hasPrefix(" "), !joined.isEmpty {
        joined[joined.count - 1].text += line
      } else {
        joined.append((line, index))
      }
    }
    return joined
  }

  private mutating func add(_ line: String, _ place: String) throws {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard let arrow = words.prefix(2).firstIndex(where: { $0 == "→" || $0 == "←" }) else {
      throw Unexpected("neither → nor ← in: \(line)")
    }
    let user = arrow == 0 ? "ada" : String(words[0])
    let rest = words[(arrow + 1)...].joined(separator: " ")
    let step: Step
    if words[arrow] == "→" {
      step = .send(rest)
    } else if let code = rest.dropping("close ") {
      guard let code = UInt16(code) else { throw Unexpected("not a close code: \(line)") }
      step = .close(code)
    } else {
      do {
        step = .receive(try JSON(rest))
      } catch {
        throw Unexpected("\(error) of: \(line)")
      }
    }
    lines.append(Line(place: place, user: user, step: step))
  }
}

extension StringProtocol {
  /// What follows the prefix; `nil` where it does not begin so.
  func dropping(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
