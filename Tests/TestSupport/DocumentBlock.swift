/// A block of code in a document.
///
/// A comment right before a block, `<!-- … -->` or in a manual `.\" …`, may state how it is tested
/// (its first line: `not run: REASON`, `from FILE`, `on a terminal`, `alternatives`, `scenario`). All
/// other lines of the comment set the stage: they precede the block, unseen by the reader.
public struct DocumentBlock: Sendable, CustomStringConvertible {
  /// How a block is tested.
  public enum Use: Equatable, Sendable {
    /// Messages between clients and a relay (→ and ←), played by ServerTests.
    case transcript
    /// A configuration of the relay.
    case configuration
    /// A configuration of the relay in each line.
    case configurations
    /// A scenario of swarm, read by SwarmTests.
    case scenario
    /// Shell commands.
    case commands
    /// Shell commands that need a terminal, one in each line.
    case terminal
    /// A program, with a test of its own.
    case program
    /// Lines of a file of the project, which has a test of its own.
    case quotation(file: String)
    /// The block is not run; its names of commands, options and files are checked anyway.
    case notRun(reason: String)
  }

  public let document: String
  /// The number of the block's first line in the document.
  public let line: Int
  public let language: String
  public var lines: [String] = []
  /// The lines of the comment before it.
  public let comment: [String]

  /// `docs/operations.md:12`
  public var description: String { "\(document):\(line)" }

  /// How the block is tested; `nil` if nothing says so.
  public var use: Use? {
    if let first = comment.first, first.hasPrefix("not run: ") {
      return .notRun(reason: String(first.dropFirst(9)))
    }
    if let first = comment.first, first.hasPrefix("from ") {
      return .quotation(file: String(first.dropFirst(5)))
    }
    return switch (language, comment.first) {
    case ("", _) where lines.contains { $0.contains("→ ") || $0.contains("← ") }: .transcript
    case ("yaml", "scenario"): .scenario
    case ("yaml", "alternatives"): .configurations
    case ("yaml", _): .configuration
    case ("sh", "on a terminal"): .terminal
    case ("sh", _): .commands
    case ("python", _), ("javascript", _), ("js", _): .program
    default: nil
    }
  }

  /// The block with the lines of the comment that set the stage before it.
  public var staged: String {
    let marks = ["scenario", "alternatives", "on a terminal"]
    let stage = comment.first.map(marks.contains) == true ? comment.dropFirst() : comment[...]
    return (stage + lines).joined(separator: "\n") + "\n"
  }

  /// The commands of the block: lines joined where a `\` or a `|` continues them, without comments.
  public var commands: [String] {
    var commands: [String] = []
    var isContinued = false
    for line in lines {
      let code = line.firstRange(of: " #").map { line[..<$0.lowerBound] } ?? line[...]
      let trimmed = String(code.reversed().drop { $0 == " " }.reversed())
      let part = trimmed.hasSuffix("\\") ? String(trimmed.dropLast()) : trimmed
      if isContinued { commands[commands.count - 1] += part } else { commands.append(part) }
      isContinued = trimmed.hasSuffix("\\") || trimmed.hasSuffix("|")
    }
    return commands
  }

  /// Every block of every document that is tested in this way.
  public static func all(_ use: Use) -> [DocumentBlock] { all { $0 == use } }

  /// Every block of every document whose use satisfies a predicate.
  public static func all(where isIncluded: (Use) -> Bool) -> [DocumentBlock] {
    Document.all.flatMap(\.blocks).filter { $0.use.map(isIncluded) ?? false }
  }
}
