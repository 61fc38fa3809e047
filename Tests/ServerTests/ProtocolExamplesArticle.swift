import TestSupport
import Testing

/// An article of the wire protocol's documentation.
struct Article {
  let name: String
  let document: Document

  static let sources = "Sources/Protocol/Wire"

  init(_ name: String) throws {
    self.name = name
    document = try Document("\(Self.sources)/Wire.docc/\(name).md")
  }

  /// Returns those of these parts that the article lacks.
  func lacks(_ parts: [String]) -> [String] { parts.filter { !document.text.contains($0) } }
}

/// An example, ready to be played: a block of a document with lines `→ {…}` (from the client) and
/// `← {…}` (from the relay). An indented line continues the one before it. With several clients a
/// line begins with the client's user: `bo ← {…}`; without a name it is `ada`. `← close 4401` is a
/// close.
///
/// A comment right before the block sets the stage. It has lines of the same kind, which are played
/// first and checked as well, and settings: `keep_entries_per_room: 2`; `eve /ws?token=x`, the
/// target to which that user connects instead of `?user=`; `token eyJ…1 {"sub":"ada"}`, the claims
/// of a token that the example abbreviates (the relay then requires tokens). A `welcome` that no
/// line shows is skipped; any other message must be shown.
struct Transcript: CustomTestStringConvertible {
  enum Step {
    case send(String)
    case receive(JSON)
    case close(UInt16)
  }
  struct Line {
    /// The document and the line.
    var place: String
    var user: String
    var step: Step
  }

  let place: String
  var lines: [Line] = []
  var keepEntriesPerRoom = 0
  /// How those users connect that do not use `?user=`.
  var targets: [String: String] = [:]
  /// The claims of tokens, by the abbreviation shown for them.
  var tokens: [String: String] = [:]

  /// Why the example cannot be played.
  var unreadable: (any Error)?

  var testDescription: String { place }

  /// Every example of every document. The test of an unreadable one fails.
  static let all: [Transcript] = DocumentBlock.all(.transcript).map(Transcript.init)

  private init(_ block: DocumentBlock) {
    place = block.description
    do {
      try read(block)
    } catch {
      unreadable = error
    }
  }

  private mutating func read(_ block: DocumentBlock) throws {
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
      try add(line.text, "\(block.document):\(block.line + line.index)")
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
  /// The rest after the prefix; `nil` if it does not begin with it.
  func dropping(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
