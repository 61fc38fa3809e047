/// The attack of an adversary. The raw value is its name for a person.
public enum Attack: String, CaseIterable, Sendable {
  /// Any message in any order, from connections of every kind.
  case babble
  /// Endless edits of one text, which is then forwarded, folded and deleted.
  case edits
  /// Endless reactions to one text, which is then folded.
  case reactions
  /// Endless rooms, which are then listed.
  case rooms
  /// Pages of people with any cursor, while the directory changes.
  case people
  /// The maximum number of sends in flight, on all connections.
  case floods
  /// The same send again and again, on all connections.
  case duplicates
}
