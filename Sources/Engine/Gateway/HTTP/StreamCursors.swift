import WebSocket
package import Wire

/// What a client of an event stream has of one room.
package struct StreamCursor: Equatable {
  /// The last entry that it has; `nil` = it wants those that come.
  package var seq: Int64?
  /// The epoch to which `seq` refers.
  package var epoch: String?

  package init(seq: Int64? = nil, epoch: String? = nil) {
    self.seq = seq
    self.epoch = epoch
  }
}

/// The rooms of an event stream and what its client has of them, as a request and the `id` of an
/// entry name them.
///
/// An `id` is the epoch of the log and the cursor in each room, in the order of the request:
/// `b7QmK2xV0aA.41.7`. Rooms that were not joined yet when the entry was sent have their cursor as
/// it was: `-` if there is none, `7~` without an epoch, `7~oldEpoch` with another one.
package struct StreamCursors {
  static let epochLimitBytes = 64

  package private(set) var rooms: [(name: String, cursor: StreamCursor)] = []

  /// Reads `room`, `after` and `epoch`, each room with those that follow it, and the `id` of the last
  /// entry that the client got, which is newer.
  package init(_ items: [(name: String, value: String)], lastID: String?) throws(WireError) {
    for (name, value) in items {
      switch name {
      case "room": rooms.append((value, StreamCursor()))
      case "after":
        guard let last = rooms.indices.last, rooms[last].cursor.seq == nil,
          let seq = Self.seq(value[...])
        else { throw Self.bad(name, "a seq, once after each room") }
        rooms[last].cursor.seq = seq
      case "epoch":
        guard let last = rooms.indices.last, rooms[last].cursor.epoch == nil,
          Self.isEpoch(value[...])
        else { throw Self.bad(name, "an epoch, once after each room") }
        rooms[last].cursor.epoch = value
      default: continue
      }
    }
    guard !rooms.isEmpty else { throw Self.bad("room", "named at least once") }
    guard let lastID, !lastID.isEmpty else { return }
    guard let cursors = Self.cursors(lastID), cursors.count == rooms.count else {
      throw Self.bad("last_event_id", "the id of an entry of a stream of the same rooms")
    }
    for index in rooms.indices { rooms[index].cursor = cursors[index] }
  }

  subscript(index: Int) -> StreamCursor {
    get { rooms[index].cursor }
    set { rooms[index].cursor = newValue }
  }

  /// Appends the `id` that names these cursors.
  package func appendID(epoch: String, to output: inout [UInt8]) {
    output += Array(epoch.utf8)
    for (_, cursor) in rooms {
      output.append(UInt8(ascii: "."))
      guard let seq = cursor.seq else {
        output.append(UInt8(ascii: "-"))
        continue
      }
      output += Array("\(seq)".utf8)
      if cursor.epoch != epoch { output += Array("~\(cursor.epoch ?? "")".utf8) }
    }
  }

  private static func cursors(_ id: String) -> [StreamCursor]? {
    let parts = id.split(separator: ".", omittingEmptySubsequences: false)
    guard let current = parts.first, isEpoch(current) else { return nil }
    var cursors: [StreamCursor] = []
    for part in parts.dropFirst() {
      if part == "-" {
        cursors.append(StreamCursor())
        continue
      }
      let pieces = part.split(
        separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
      guard let seq = seq(pieces[0]) else { return nil }
      var epoch: String? = String(current)
      if pieces.count == 2 {
        guard pieces[1].isEmpty || isEpoch(pieces[1]) else { return nil }
        epoch = pieces[1].isEmpty ? nil : String(pieces[1])
      }
      cursors.append(StreamCursor(seq: seq, epoch: epoch))
    }
    return cursors
  }

  private static func seq(_ text: Substring) -> Int64? {
    guard (1...16).contains(text.utf8.count), text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
      let seq = Int64(text), seq <= Entry.sequenceLimit
    else { return nil }
    return seq
  }

  private static func isEpoch(_ text: Substring) -> Bool {
    (1...epochLimitBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  private static func bad(_ field: String, _ expected: String) -> WireError {
    WireError(.badField, "\"\(field)\" must be \(expected).", field: field)
  }
}
