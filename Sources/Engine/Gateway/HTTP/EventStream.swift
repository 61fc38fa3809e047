import Relay
import WebSocket
import Wire

/// The messages of a session as server-sent events (the HTML standard, "Server-sent events").
///
/// A message is an event: its type, its JSON as the data, and for an entry an `id` that names the
/// client's cursor in every room; so `Last-Event-ID` resumes them all. When the rooms are joined, a
/// block without data gives the client its first `id`: without one it could not resume from where it
/// was before the first entry.
struct EventStream {
  /// The most bytes of events that wait for a socket, besides the last event.
  static let outputBytes = 16_384
  /// The longest silence.
  static let commentMilliseconds: Int64 = 15_000
  static let comment = Array(":\n\n".utf8)

  private var cursors: StreamCursors
  /// The index of each room.
  private var indices: [String: Int] = [:]
  /// The epoch of the log, once a room is joined.
  private var epoch: String?
  /// The number of rooms that were joined or refused.
  private var answered = 0
  /// Whether a room is joined, so that the stream is the answer to its request.
  private(set) var hasBegun = false
  /// What precedes that.
  private var held: [UInt8] = []
  private var firstError: WireError?
  /// Why there will be no stream.
  private(set) var refusal: WireError?

  /// Joins have this `ref`, so that their answers can be told from what comes unasked.
  private static let joinRef = "join"

  /// - Parameter retryMilliseconds: when the client comes back if the stream breaks off.
  init(_ cursors: StreamCursors, retryMilliseconds: Int64) {
    self.cursors = cursors
    for (index, room) in cursors.rooms.enumerated() where indices[room.name] == nil {
      indices[room.name] = index
    }
    held = Array("retry: \(retryMilliseconds)\n\n".utf8)
  }

  var roomCount: Int { cursors.rooms.count }

  /// The request with which the stream begins.
  var join: [UInt8] {
    let joins = cursors.rooms.map { room in
      Result<ClientMessage.Join, WireError>.success(
        ClientMessage.Join(
          room: room.name, after: room.cursor.seq, epoch: room.cursor.epoch))
    }
    return ClientMessage.joinRooms(joins).json(ref: Self.joinRef)
  }

  /// Appends a message as an event to the output, or holds it until the stream begins.
  mutating func append(_ json: [UInt8], to output: inout [UInt8]) {
    guard let (type, room, seq) = ServerMessage.place(in: json.span) else { return }
    switch type {
    case "message":
      if let index = room.flatMap({ indices[$0] }) {
        cursors[index] = StreamCursor(seq: seq, epoch: epoch)
      }
      append(type, json, hasID: true, to: &output)
    case "joined", "error": takeAnswer(type, json, to: &output)
    case "closing" where hasBegun:
      if case .closing(_, let wait)? = InternalMessage(json: json).value {
        output += Array("retry: \(wait)\n".utf8)
      }
      append(type, json, to: &output)
    default:
      if hasBegun { append(type, json, to: &output) } else { append(type, json, to: &held) }
    }
  }

  private mutating func takeAnswer(_ type: String, _ json: [UInt8], to output: inout [UInt8]) {
    let isAnswer = ServerMessage.ref(in: json.span) == Self.joinRef
    if isAnswer { answered += 1 }
    let event = isAnswer ? ServerMessage.renamed(json, to: nil) : json
    switch InternalMessage(json: json).value {
    case .joined(let joined):
      epoch = joined.epoch
      if let index = indices[joined.room] {
        cursors[index] = StreamCursor(seq: joined.after, epoch: joined.epoch)
      }
      if !hasBegun {
        hasBegun = true
        output += held
        held = []
      }
    case .error(let error) where !hasBegun:
      if firstError == nil { firstError = error }
      if !isAnswer || answered == roomCount { refusal = firstError }
      append(type, event, to: &held)
      return
    default: break
    }
    append(type, event, to: &output)
    // The cursor from which the client resumes if it gets no entry.
    if answered == roomCount, isAnswer || type == "joined" {
      appendID(to: &output)
      output.append(UInt8(ascii: "\n"))
    }
  }

  private func append(
    _ type: String, _ json: [UInt8], hasID: Bool = false, to output: inout [UInt8]
  ) {
    output += Array("event: \(type)\n".utf8)
    if hasID { appendID(to: &output) }
    // JSON that a client has sent may have line breaks, and each ends a line of the event.
    var rest = json[...]
    repeat {
      let end = rest.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? rest.endIndex
      output += Array("data: ".utf8)
      output += rest[..<end]
      output.append(UInt8(ascii: "\n"))
      rest = rest[end...]
      if rest.count > 1, rest.starts(with: [0x0D, 0x0A]) { rest = rest.dropFirst() }
      rest = rest.dropFirst()
    } while !rest.isEmpty
    output.append(UInt8(ascii: "\n"))
  }

  private func appendID(to output: inout [UInt8]) {
    guard let epoch else { return }
    output += Array("id: ".utf8)
    cursors.appendID(epoch: epoch, to: &output)
    output.append(UInt8(ascii: "\n"))
  }
}
