import Relay
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
