/// What an adversary tries. The raw value is for a person.
public enum Attack: String, CaseIterable, Sendable {
  /// Any message in any order, from connections of every kind.
  case babble
  /// Edits of one text without end; then it is passed on, folded and deleted.
  case edits
  /// Reactions to one text without end; then it is folded.
  case reactions
  /// Rooms without end; then they are listed.
  case rooms
  /// Pages of people from anywhere, while the directory changes.
  case people
  /// As many sends as a client may have under way, from all connections.
  case floods
  /// The same send over and over, from all connections.
  case duplicates
}
