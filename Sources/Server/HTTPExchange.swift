import Relay
import WebSocket
import Wire

/// What a request over HTTP asks for, as far as its head says.
struct HTTPCall {
  /// A message of relay.v1, whose answer is the response.
  enum Message {
    /// The content is the message's fields but for `type` and `room`.
    case send(room: String)
    /// The whole message.
    case whole(type: String, json: [UInt8])

    var type: String {
      switch self {
      case .send: "send"
      case .whole(let type, _): type
      }
    }

    /// The message.
    /// - Parameter content: of the request. What it says of `type` and `room` does not count, since of
    ///   a repeated member the last one does; what is no object stays none.
    func json(_ content: [UInt8]) -> [UInt8] {
      switch self {
      case .whole(_, let json): return json
      case .send(let room):
        guard let last = content.lastIndex(where: { !$0.isJSONSpace }),
          content[last] == UInt8(ascii: "}")
        else { return content }
        var json = Array(content[..<last])
        let before = json.last { !$0.isJSONSpace }
        json += Array((before == UInt8(ascii: "{") ? "" : ",").utf8)
        json += Array(#""type":"send","room":"#.utf8)
        json.append(jsonString: room)
        json.append(UInt8(ascii: "}"))
        return json
      }
    }
  }

  enum Target {
    /// What its head decided, and is being answered.
    case nothing
    case relay(Message, Identity)
    /// Whether entries go the whole way.
    case readiness
    /// The counts.
    case metrics
    /// Somebody's picture, unless it is one of those that `known` names (`If-None-Match`).
    case avatar(of: String, Identity, known: [String])
  }

  var target: Target
  /// How much content follows the head.
  var contentBytes = 0
  /// The client waits for a word before it sends the content (RFC 9110 §10.1.1).
  var expectsContinue = false
  /// HEAD.
  var headOnly = false
  /// Whether the client may send another request on the connection.
  var keepsAlive = false
  /// The page that may read the answer, where it is another site's.
  var origin: String?
}

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
  fileprivate var isJSONSpace: Bool {
    self == 0x20 || 0x09...0x0D ~= self && self != 0x0B && self != 0x0C
  }
}
