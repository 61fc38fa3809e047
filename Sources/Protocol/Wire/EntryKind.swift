/// Which kind of entry a room's log holds; the raw value is what stands on the wire. The protocol
/// grows, so that a client may meet kinds that it does not know: these it passes over.
public struct EntryKind: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public static let text = EntryKind(rawValue: "text")
  /// Any JSON.
  public static let data = EntryKind(rawValue: "data")
  /// Another text for an entry of the sender's own.
  public static let edit = EntryKind(rawValue: "edit")
  /// The end of a text of the sender's own.
  public static let delete = EntryKind(rawValue: "delete")
  /// An emoji given to a text, or taken back.
  public static let react = EntryKind(rawValue: "react")

  /// Whether this relay keeps entries of the kind.
  public var isKnown: Bool { isContent || self == .edit || self == .delete || self == .react }

  /// Whether it says something of its own; the others change what was said before, and count as
  /// unread nowhere.
  public var isContent: Bool { self == .text || self == .data }
}
