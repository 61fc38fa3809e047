import TestSupport
import Testing

@testable import Messenger

/// The section KEYS of wschat(1), compared with the table that drives the keys.
@Suite struct `The keys in the manual` {
  struct Row: Equatable {
    var section: String
    var keys: String
    var text: String
    /// Its name in the configuration.
    var command: String
  }

  @Test func `are those of the keymap, in its order and with its words`() throws {
    let keymap = Keymap()
    let expected = keymap.help.flatMap { section, rows in
      rows.map { keys, text in
        let binding = keymap.bindings.first { $0.section == section && $0.text == text }
        return Row(
          section: section, keys: keys, text: text, command: binding?.command.rawValue ?? "")
      }
    }
    let told = try rows(ofManual: readFile(Project["Sources/Commands/WschatCommand/wschat.1"]))
    for (row, other) in zip(told, expected) { #expect(row == other) }
    #expect(told.count == expected.count)
  }

  @Test func `and its commands are those of the table`() throws {
    let told = try readFile(Project["Sources/Commands/WschatCommand/wschat.1"])
      .split(separator: "\n").drop { $0 != ".Sh COMMANDS" }.prefix { $0 != ".Sh ENVIRONMENT" }
      .filter { !$0.hasPrefix(".Bl") }
    let expected = SlashCommand.all.flatMap { command in
      let aliases = command.names.dropFirst().map { "Ic /\($0)" }.joined(separator: " , ")
      return [".It Ic \(command.usage)", command.text]
        + (aliases.isEmpty ? [] : [".Pq also \(aliases)"])
    }
    #expect(told.drop { !$0.hasPrefix(".It") }.prefix { $0 != ".El" }.map(String.init) == expected)
  }

  @Test func `and so are those in the guide, which the page shares`() throws {
    let told = try readFile(Project["docs/messenger.md"]).split(separator: "\n")
      .filter { $0.hasPrefix("| `/") }.map(String.init)
    let expected = SlashCommand.all.map { command in
      let aliases = command.names.dropFirst().map { "`/\($0)`" }.joined(separator: ", ")
      let usage = command.usage.replacing("|", with: "\\|")
      return "| `\(usage)` |\(aliases.isEmpty ? "" : " \(aliases)") | \(command.text) |"
    }
    #expect(told == expected)
  }

  /// Each row is an item, its text, and its name in parentheses (mdoc(7)).
  private func rows(ofManual text: String) throws -> [Row] {
    let lines = text.split(separator: "\n").drop { $0 != ".Sh KEYS" }.dropFirst()
      .prefix { !$0.hasPrefix(".Sh ") }
    var rows: [Row] = []
    var section = ""
    for line in lines {
      if line.hasPrefix(".Ss ") {
        section = String(line.dropFirst(4))
      } else if line.hasPrefix(".It ") {
        let keys = characters(line.dropFirst(4)).split(separator: " ").filter { $0 != "," }
        rows.append(
          Row(section: section, keys: keys.joined(separator: ", "), text: "", command: ""))
      } else if line.hasPrefix(".Pq Ic ") {
        let last = try #require(rows.indices.last)
        rows[last].command = String(line.dropFirst(7))
      } else if !line.hasPrefix("."), let last = rows.indices.last {
        rows[last].text += (rows[last].text.isEmpty ? "" : " ") + characters(line)
      }
    }
    return rows
  }

  /// Removes roff's escapes: `\[u2191]` is an arrow, `\&` nothing.
  private func characters(_ text: Substring) -> String {
    var rest = text[...]
    var result = ""
    while let start = rest.firstIndex(of: "\\") {
      result += rest[..<start]
      rest = rest[start...].dropFirst()
      if rest.hasPrefix("[u"), let end = rest.firstIndex(of: "]"),
        let code = UInt32(rest.dropFirst(2).prefix { $0 != "]" }, radix: 16),
        let scalar = Unicode.Scalar(code)
      {
        result.unicodeScalars.append(scalar)
        rest = rest[end...].dropFirst()
      } else if rest.hasPrefix("&") {
        rest = rest.dropFirst()
      }
    }
    return result + rest
  }
}
