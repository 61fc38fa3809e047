internal import Folding

/// The order in which a name that was typed offers persons and rooms, in wschat and on the page: what
/// is meant for one person must not be opened as a room that all users can read.
enum Offer: Int, Comparable {
  /// The name is the text; for an empty text, every name is.
  case namedPerson, namedRoom
  /// A word of the name begins with the text.
  case begunPerson, begunRoom
  /// The letters of the text are in the name, in order.
  case similarPerson, similarRoom
  /// "Write to @name": there is no conversation, and the relay need not know the person.
  case newPerson

  static func < (a: Offer, b: Offer) -> Bool { a.rawValue < b.rawValue }

  init(_ conversation: Conversation, for text: String) {
    let isPerson = conversation.peer != nil
    if text.isEmpty {
      self = .namedPerson
      return
    }
    let wanted = TextFolding.utf8(text)
    let names = [conversation.title, conversation.peer ?? conversation.room].map(TextFolding.utf8)
    if names.contains(wanted) {
      self = isPerson ? .namedPerson : .namedRoom
    } else if names.contains(where: { Self.hasWord(in: $0, beginningWith: wanted) }) {
      self = isPerson ? .begunPerson : .begunRoom
    } else {
      self = isPerson ? .similarPerson : .similarRoom
    }
  }

  private static func hasWord(in name: [UInt8], beginningWith wanted: [UInt8]) -> Bool {
    name.indices.contains { start in
      (start == 0 || !isLetter(name[start - 1])) && name[start...].starts(with: wanted)
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...: true
    default: false
    }
  }
}
