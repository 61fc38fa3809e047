/// Slack's markup as plain text: `<@U1>`, `<#C1|general>`, `<https://…|here>`, `<!here>` and `&amp;`.
/// https://docs.slack.dev/messaging/formatting-message-text
struct SlackText {
  /// The names of channels by their ids.
  var channels: [String: String] = [:]

  func plain(_ text: String, _ names: inout PeopleNames) -> String {
    var plain = ""
    var rest = Substring(text)
    while let start = rest.utf8.firstIndex(of: UInt8(ascii: "<")) {
      plain += Self.unescaped(rest[..<start])
      let inner = rest[rest.utf8.index(after: start)...]
      guard let end = inner.utf8.firstIndex(of: UInt8(ascii: ">")) else {
        rest = rest[start...]
        break
      }
      plain += reference(inner[..<end], &names)
      rest = inner[inner.utf8.index(after: end)...]
    }
    return plain + Self.unescaped(rest)
  }

  private func reference(_ text: Substring, _ names: inout PeopleNames) -> String {
    let parts = text.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
    let target = String(parts.first ?? "")
    let label = parts.count == 2 ? Self.unescaped(parts[1]) : ""
    switch target.first {
    case "@": return "@" + names.user(String(target.dropFirst()))
    case "#":
      let id = String(target.dropFirst())
      return "#" + (label.isEmpty ? channels[id] ?? id : label)
    case "!":
      // !here, !channel, !subteam^S1|@group, !date^…|yesterday
      return label.isEmpty ? "@" + target.dropFirst().prefix { $0 != "^" } : label
    default:
      let link = Self.unescaped(Substring(target))
      return label.isEmpty || link.hasSuffix(label) ? link : "\(label) (\(link))"
    }
  }

  private static func unescaped(_ text: Substring) -> String {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return String(text) }
    var plain = ""
    var rest = text
    while let start = rest.utf8.firstIndex(of: UInt8(ascii: "&")) {
      plain += rest[..<start]
      rest = rest[start...]
      let known = [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")].first { rest.hasPrefix($0.0) }
      plain += known?.1 ?? "&"
      rest = rest.dropFirst(known?.0.count ?? 1)
    }
    return plain + rest
  }
}
