import WebSocket
import Wire

/// One HTTP request, from its head to the end of its answer. Confined to its loop's thread.
final class HTTPExchange {
  enum State {
    /// The content is being received.
    case reading
    /// The shard accepts no input for now.
    case held
    /// The relay is processing the request.
    case waiting
    /// The answer is being sent.
    case answering
  }

  let call: HTTPCall
  /// Distinguishes it from earlier and later exchanges of the same connection index.
  let serial: UInt64
  var state = State.reading
  var content: [UInt8] = []
  /// The response, until it can be sent.
  private(set) var response: HTTPResponse?
  /// The bytes of the answer; before it, those of the `100 Continue`.
  var output: [UInt8] = []
  var sent = 0
  /// The connection ends after the answer.
  var endsConnection = false
  /// Why the shard closes the session, if it does.
  var closing: (reason: CloseReason, text: String)?
  /// Whether the entry that was sent existed already.
  private(set) var isDuplicate = false

  init(_ call: HTTPCall, serial: UInt64) {
    self.call = call
    self.serial = serial
  }

  /// Sets the response; only the first one counts.
  func answer(_ response: HTTPResponse) {
    if self.response == nil { self.response = response }
  }

  /// Takes frames of the session, and finds the answer among them. Other messages, such as
  /// `welcome`, are ignored.
  func take(_ frames: Span<UInt8>, wall: Int64) {
    guard case .relay(let message, _) = call.target else { return }
    forEachMessage(in: frames) { json in
      guard response == nil else { return }
      if json.starts(with: #"{"type":"error""#.utf8) {
        if case .error(let error)? = try? ServerMessage(decoding: json.span) {
          answer(HTTPProblem(error, wall: wall).response)
        }
      } else if message.type == "send" {
        guard json.starts(with: #"{"type":"ack""#.utf8),
          case .ack(let ack)? = try? ServerMessage(decoding: json.span)
        else { return }
        isDuplicate = ack.duplicate
        answer(Self.response(ack.duplicate ? 200 : 201, json))
      } else if json.starts(with: #"{"type":"\#(message.type)""#.utf8) {
        answer(Self.response(200, json))
      }
    }
  }

  private static func response(_ status: Int, _ json: [UInt8]) -> HTTPResponse {
    var response = HTTPResponse(status: status, contentType: "application/json", body: json)
    // Caches must not store messages of a room.
    response.add("Cache-Control", "no-store")
    return response
  }
}

/// Calls `body` with each message in frames of the relay's own: these are unmasked, uncompressed,
/// unfragmented and complete.
func forEachMessage(in frames: Span<UInt8>, _ body: ([UInt8]) -> Void) {
  var offset = 0
  while let header = try? FrameHeader.read(
    frames.extracting(offset..<frames.count), as: .client, payloadLimitBytes: 0)
  {
    let start = offset + header.headerLength
    offset = start + header.payloadLength
    guard header.opcode == .text else { continue }
    var json: [UInt8] = []
    unsafe frames.extracting(start..<offset).withUnsafeBufferPointer {
      unsafe json.append(contentsOf: $0)
    }
    body(json)
  }
}

extension UInt8 {
  var isJSONSpace: Bool {
    self == 0x20 || 0x09...0x0D ~= self && self != 0x0B && self != 0x0C
  }
}
