/// The kind of an entry; the raw value is the name on the wire. The protocol may add kinds, so
/// clients must ignore those that they do not know.
public struct EntryKind: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public static let text = EntryKind(rawValue: "text")
  /// Any JSON.
  public static let data = EntryKind(rawValue: "data")
  /// A new text for an entry of the same sender.
  public static let edit = EntryKind(rawValue: "edit")
  /// The deletion of a text or data entry of the same sender.
  public static let delete = EntryKind(rawValue: "delete")
  /// An emoji added to a text, or removed.
  public static let react = EntryKind(rawValue: "react")

  /// A file that was uploaded, with a name and perhaps a caption.
  public static let file = EntryKind(rawValue: "file")

  /// What a room is called, and who may do what in it.
  public static let settings = EntryKind(rawValue: "settings")
  /// What a user is in the room.
  public static let member = EntryKind(rawValue: "member")

  /// An entry of a blocked user, as the user who has blocked them is shown it: nothing but its place. It is
  /// in no log.
  public static let hidden = EntryKind(rawValue: "hidden")

  /// Whether this relay stores entries of this kind.
  public var isKnown: Bool {
    isContent || isNotice || self == .edit || self == .delete || self == .react
  }

  /// Whether the kind has content of its own; the others change earlier entries or the room, and do
  /// not count as unread.
  public var isContent: Bool { self == .text || self == .data || self == .file }

  /// Whether an entry of this kind has a text of its sender, which can be edited, and takes reactions.
  public var isEditable: Bool { self == .text || self == .file }

  /// Whether the kind changes the room: it stands among the content of a folded history.
  public var isNotice: Bool { self == .settings || self == .member }
}
