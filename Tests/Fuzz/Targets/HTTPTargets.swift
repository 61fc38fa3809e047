import Gateway
import Wire

/// HTTP input other than the messages themselves.
enum HTTPTargets {
  // MARK: Streams

  /// Input: the rooms of an event stream as a query, a line break, and the id of its last entry.
  static func checkStream(_ input: ArraySlice<UInt8>) throws(FuzzFinding) {
    let parts = input.split(separator: 10, maxSplits: 1, omittingEmptySubsequences: false)
    let items = parts[0].split(separator: UInt8(ascii: "&")).map { item in
      let pair = item.split(separator: UInt8(ascii: "="), maxSplits: 1)
      let texts = pair.map { String(decoding: $0, as: UTF8.self) }
      return (name: texts.first ?? "", value: texts.count > 1 ? texts[1] : "")
    }
    let lastID = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : nil
    guard let cursors = cursors(items, lastID) else { return }
    let rooms = items.filter { $0.name == "room" }
    try expect(cursors.rooms.map(\.name) == rooms.map(\.value), "the rooms are \(cursors.rooms)")
    for (_, cursor) in cursors.rooms {
      try expect(cursor.seq ?? 0 >= 0, "an entry before the first: \(cursor)")
      try expect(cursor.seq ?? 0 <= Entry.sequenceLimit, "a seq beyond the last: \(cursor)")
    }
    for epoch in ["e", cursors.rooms.first?.cursor.epoch ?? "f"] {
      var id: [UInt8] = []
      cursors.appendID(epoch: epoch, to: &id)
      let text = String(decoding: id, as: UTF8.self)
      let again = self.cursors(rooms, text)
      let named = cursors.rooms.map(\.cursor)
      // Without a seq an epoch has no meaning, and is not named.
      try expect(
        again?.rooms.map(\.cursor) == named.map { $0.seq == nil ? .init() : $0 },
        "the id \(text) of \(named) is read as \(String(describing: again?.rooms))")
    }
  }

  private static func cursors(
    _ items: [(name: String, value: String)], _ lastID: String?
  ) -> StreamCursors? {
    try? StreamCursors(items, lastID: lastID)
  }

  // MARK: Batches

  /// Input: a batch of requests.
  static func checkBatch(_ input: ArraySlice<UInt8>) throws(FuzzFinding) {
    let json = Array(input)
    guard let elements = RequestArray.elements(in: json.span) else { return }
    var end = 0
    for element in elements {
      try expect(
        json[end..<element.lowerBound].allSatisfy(isBetween), "a part before \(element) is lost")
      try expect(!element.isEmpty, "an element is empty")
      end = element.upperBound
      let message = Array(json[element])
      guard
        let request = try? ClientRequest(
          decoding: message.span, textLimitBytes: 8192, roomsLimit: 256)
      else { continue }
      let answer = ServerMessage.ok.json(ref: "7")
      let renamed = ServerMessage.renamed(answer, to: request.ref)
      try expect(
        ServerMessage.ref(in: renamed.span) == request.ref,
        "\(String(describing: request.ref)) became \(String(decoding: renamed, as: UTF8.self))")
      try expect(
        (try? ServerMessage(decoding: renamed.span)) == .ok,
        "ok became \(String(decoding: renamed, as: UTF8.self))")
    }
    try expect(json[end...].allSatisfy(isBetween), "a part at the end is lost")
  }

  private static func isBetween(_ byte: UInt8) -> Bool { "[], \t\r\n".utf8.contains(byte) }
}
