import Wire

extension LineChat {
  /// The room to chat in.
  enum Place: Equatable {
    case named(String)
    /// A direct room, whose name depends on the user's own name, known from `welcome`.
    case direct(String)
    /// A direct room with the person of this display name, whose user name the relay knows.
    case person(String)

    /// Why a text names no place; prints as a sentence without a full stop.
    struct Invalid: Error, CustomStringConvertible {
      var description: String
    }

    /// The most bytes that a display name has.
    private static let nameLimitBytes = 200

    /// Parses the value of `--room`: `general`, `#General`, or `@ada` for a direct room.
    init(room text: String) throws(Invalid) {
      if text.first == "@" {
        try self.init(user: text)
        return
      }
      let room = (text.first == "#" ? String(text.dropFirst()) : text).lowercased()
      guard RoomName.isValid(room) else {
        throw Invalid(
          description:
            "\"\(text)\" is not a valid room name: use 1 to 140 of a-z 0-9 . _ : -, not . or .., or --to USER"
        )
      }
      self = .named(room)
    }

    /// Parses the value of `--to`: `ada`, `@ada`, or the display name `Ada Lovelace`.
    init(user text: String) throws(Invalid) {
      if text.first == "#" {
        throw Invalid(description: "\"\(text)\" is a room: use --room \(text.dropFirst())")
      }
      let name = text.first == "@" ? String(text.dropFirst()) : text
      if UserName.isValid(name) {
        self = .direct(name)
        return
      }
      let isBlank = name.unicodeScalars.allSatisfy(\.properties.isWhitespace)
      guard name.utf8.count <= Self.nameLimitBytes, !isBlank else {
        throw Invalid(
          description:
            "\(Wschat.badUser(text)) A display name has at most \(Self.nameLimitBytes) bytes."
        )
      }
      self = .person(name)
    }
  }

  struct Options {
    var room: Place
    var printsJSON: Bool
    /// Prints nothing but errors.
    var isQuiet = false
    /// Prints the number of each entry.
    var printsSequence = false
    var historyCount: Int
    var follows: Bool
    var timeoutMilliseconds: Int
    /// The paths of files that are sent before the first line.
    var attachments: [String] = []
    /// Whether the token is that of a login.
    var hasLogin = false
  }
}
