import WebSocket
import Wire

/// One request over HTTP, from its head to the end of its answer. Confined to its loop's thread.
final class HTTPExchange {
  enum State {
    /// The content is still coming.
    case reading
    /// The relay takes nothing more just now.
    case held
    /// The relay is at it.
    case waiting
    /// The answer is being sent.
    case answering
  }

  let call: HTTPCall
  /// Tells it apart from others of its connection's place.
  let serial: UInt64
  var state = State.reading
  var content: [UInt8] = []
  /// What is to be answered, once that may be done.
  private(set) var response: HTTPResponse?
  /// Of the answer, what is not sent yet; before it, of the `100 Continue`.
  var output: [UInt8] = []
  var sent = 0
  /// No further request is taken behind the answer.
  var endsConnection = false
  /// The relay ends the session, and why.
  var closing: (reason: CloseReason, text: String)?
  /// Whether what was sent is an entry that was there already.
  private(set) var isDuplicate = false

  init(_ call: HTTPCall, serial: UInt64) {
    self.call = call
    self.serial = serial
  }

  /// The first answer counts.
  func answer(_ response: HTTPResponse) {
    if self.response == nil { self.response = response }
  }

  /// Takes frames that the relay has written, and finds the answer among them. The rest, such as
  /// `welcome`, is for those who stay.
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
    // What is said in a room is not for a cache to keep.
    response.add("Cache-Control", "no-store")
    return response
  }
}

/// Calls `body` with each message in frames of the relay's own: none is masked, compressed or in
/// parts, and none is cut.
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
