/// The type of a request; the raw value is the name on the wire.
public enum RequestName: String, CaseIterable, Sendable {
  case auth, join, leave, send, received, read, typing, history, rooms, people, presence, ping
  case block, blocks, accept, report, reports
  /// For operators of the relay.
  case ban, deleteRoom = "delete_room", erase
  /// Over HTTP alone.
  case trace
}
