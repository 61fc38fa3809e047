import TestSupport
import Testing

@testable import Messenger

/// The web page has the commands of wschat: its table names those that it does not carry out, with
/// the reason.
@Suite struct `Commands of the web page` {
  /// The rows of `table` in `commands.js`, which are arrays of strings without escapes.
  private func rows() throws -> [[String]] {
    let text = try readFile(Project["Sources/Web/page/commands.js"])
    let table = text.split(separator: "export const table = [", maxSplits: 1)[1]
      .split(separator: "\n];", maxSplits: 1)[0]
    return table.split(separator: "\n  [").map { row in
      row.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        .compactMap { $0.offset % 2 == 1 ? String($0.element) : nil }
    }
  }

  @Test func `have the names, arguments and texts of wschat's`() throws {
    let expected = SlashCommand.all.map {
      [$0.names.joined(separator: " "), $0.arguments, $0.text]
    }
    #expect(try rows().map { Array($0.prefix(3)) } == expected)
  }

  @Test func `say why if the page does not carry them out`() throws {
    let absent = try rows().filter { $0.count > 3 }
    #expect(
      absent.map { $0[0].split(separator: " ")[0] }
        == [
          "send", "open", "save", "link", "notify", "unread", "pin", "unpin", "login", "set",
          "quit",
        ])
    #expect(absent.allSatisfy { $0.count == 4 && $0[3].hasSuffix(".") })
  }
}
