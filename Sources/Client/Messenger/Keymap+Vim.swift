internal import Terminal

extension Keymap {
  /// A set of bindings that comes with wschat.
  public enum Name: String, CaseIterable, Sendable {
    case `default`
    /// As the default, but in the list and on the messages letters are commands as in vim and are
    /// never typed, and Esc in the composer goes to the messages.
    case vim
  }

  static func bindings(of name: Name) -> [Binding] {
    switch name {
    case .default: defaults
    case .vim: vim
    }
  }

  /// The rows that differ from the defaults, by section. Keys are separated by commas.
  static let vimChanges: [(section: String, command: Command, keys: String, text: String)] = [
    ("Messages", .first, "g g, home", "oldest loaded message"),
    ("Messages", .newest, "G, end", "newest message"),
    ("Messages", .copy, "y y", "copy; several with time and name"),
    ("Messages", .delete, "d d, delete", "delete"),
    ("Messages", .edit, "c c, e", "edit"),
    ("Messages", .openLink, "g x, o", "open the link"),
    ("Messages", .search, "/", "search"),
    ("Messages", .write, "i, a", "write"),
    ("Messages", .previousPane, "h", "list of conversations"),
    ("Messages", .nextConversation, "g t", "next conversation"),
    ("Messages", .previousConversation, "g T", "previous conversation"),
    ("Messages", .quit, "Z Z", "quit"),
    ("Conversations", .first, "g g, home", "first"),
    ("Conversations", .last, "G, end", "last"),
    ("Conversations", .choose, "enter, l, o", "open"),
    ("Conversations", .write, "i, a", "write"),
    ("Conversations", .nextConversation, "g t", "next conversation"),
    ("Conversations", .previousConversation, "g T", "previous conversation"),
    ("Conversations", .quit, "Z Z", "quit"),
  ]

  private static let vim: [Binding] = {
    var table = defaults
    for change in vimChanges {
      let sequences = change.keys.split(separator: ",").map { name -> KeySequence in
        let name = String(name.drop { $0 == " " })
        guard case .success(let sequence) = KeySequence.named(name) else {
          preconditionFailure("the table of keys names \(name)")
        }
        return sequence
      }
      let rows = table.indices.filter { table[$0].section == change.section }
      if let row = rows.first(where: { table[$0].command == change.command }) {
        table[row].sequences = sequences
      } else if let last = rows.last {
        var row = table[last]
        row.command = change.command
        row.sequences = sequences
        row.text = change.text
        table.insert(row, at: last + 1)
      }
    }
    return table
  }()
}
