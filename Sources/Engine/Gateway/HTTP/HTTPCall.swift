import Accounts
import Relay
import WebSocket
import Wire

/// The parsed head of an HTTP request whose answer has to be found.
struct HTTPCall {
  /// A message of relay.v1; the answer to it is the response.
  enum Message {
    /// The content has the fields of the message except `type` and `room`.
    case send(room: String, Traceparent?)
    /// The whole message, as JSON.
    case history([UInt8])
    case people([UInt8])
    case rooms([UInt8])

    /// Returns the message as JSON.
    /// - Parameter content: of the request. Its `type` and `room` have no effect, since the last
    ///   one of a repeated member counts; content that is not an object stays invalid.
    func json(_ content: [UInt8]) -> [UInt8] {
      switch self {
      case .history(let json), .people(let json), .rooms(let json): return json
      case .send(let room, let traceparent):
        guard let last = content.lastIndex(where: { !$0.isJSONSpace }),
          content[last] == UInt8(ascii: "}")
        else { return content }
        var json = Array(content[..<last])
        let before = json.last { !$0.isJSONSpace }
        json += Array((before == UInt8(ascii: "{") ? "" : ",").utf8)
        json += Array(#""type":"send","room":"#.utf8)
        json.append(jsonString: room)
        if let traceparent { json += Array(",\"traceparent\":\"\(traceparent.text)\"".utf8) }
        json.append(UInt8(ascii: "}"))
        return json
      }
    }
  }

  /// A request to trace an entry.
  struct TraceQuestion {
    var room: String
    var entry: LogRequest.Trace.Entry

    /// Reads the path. The entry is a `seq` if it consists of digits, otherwise an `id`; `by=id`
    /// makes it an `id` in any case.
    init(room: String, entry: String, _ request: HTTPRequest) throws(HTTPProblem) {
      guard RoomName.isValid(room) else { throw Self.bad("room", "a room") }
      self.room = room
      let isNumber = !entry.isEmpty && entry.utf8.allSatisfy { 0x30...0x39 ~= $0 }
      switch request.query("by") {
      case nil where isNumber:
        guard let seq = Int64(entry) else { throw Self.bad("seq", "the seq of an entry") }
        self.entry = .seq(seq)
      case nil, "id":
        guard (1...64).contains(entry.utf8.count), entry.utf8.allSatisfy({ 0x20...0x7E ~= $0 })
        else { throw Self.bad("id", "1 to 64 printable ASCII characters") }
        self.entry = .id(entry)
      default: throw Self.bad("by", "\"id\"")
      }
    }

    /// Reads the path of a trace.
    init(trace: String) throws(HTTPProblem) {
      guard let id = TraceID(trace) else {
        throw Self.bad("trace_id", "32 hexadecimal digits in lower case")
      }
      (room, entry) = ("", .trace(id))
    }

    private static func bad(_ field: String, _ expected: String) -> HTTPProblem {
      HTTPProblem(400, "\(field) must be \(expected).", code: .badField, field: field)
    }
  }

  enum Target {
    /// The answer was decided by the head, and is being sent.
    case nothing
    case relay(Message)
    /// Several messages, which are the content.
    case requests
    /// The messages of rooms as events.
    case stream(HTTPRequest)
    /// Whether the relay runs.
    case liveness
    /// Whether the relay works from end to end.
    case readiness
    /// The metrics, in OpenMetrics or in the older text format of Prometheus.
    case metrics(openMetrics: Bool)
    /// Who is connected; a user = only their connections.
    case connections(of: String?)
    /// The relay's figures over the last hour, after a time in milliseconds since 1970.
    case samples(after: Int64)
    /// Ends a connection, by its name.
    case endConnection(String)
    /// A file of the web page.
    case file(HTTPResponse)
    /// When an entry passed through the relay.
    case trace(TraceQuestion)
    /// How people sign in.
    case signInMethods
    /// A request about accounts.
    case account(AccountCall.Request, HTTPRequest)
    /// What an operator asks about accounts.
    case accounts(AccountCall.Administration)
    /// An upload, or a file.
    case files(FileRequest)
    /// A user's picture, unless it is one that `known` names (`If-None-Match`).
    case avatar(of: String, known: [String])
  }

  var target: Target
  /// The user that asks, if the request was authenticated.
  var identity: Identity?
  /// Whether an operator asks.
  var isOperator = false
  /// How long an empty answer waits for an entry; `nil` = not at all.
  var poll: LongPoll?
  /// The length of the content that follows the head.
  var contentBytes = 0
  /// The client waits for `100 Continue` before it sends the content (RFC 9110 §10.1.1).
  var expectsContinue = false
  /// The method is HEAD.
  var headOnly = false
  /// Whether the client may send another request on the connection.
  var keepsAlive = false
  /// Whether the answer has to be one of tus.
  var speaksTus = false
  /// The origin of a page of another site that may read the answer.
  var origin: String?
  /// Whether the answer to another page would differ.
  var variesByOrigin = false

  /// Whether the answer is public: given without credentials.
  var isPublic: Bool {
    switch target {
    case .liveness, .readiness, .file, .signInMethods: true
    default: false
    }
  }

  /// Whether the request was authenticated.
  var isAuthenticated: Bool {
    switch target {
    case .nothing: false
    case .account, .files: identity != nil
    default: !isPublic
    }
  }

  /// Whether the answer is a file of the web page, which is public.
  var isFile: Bool { if case .file = target { true } else { false } }
}

extension UInt8 {
  fileprivate var isJSONSpace: Bool {
    self == 0x20 || 0x09...0x0D ~= self && self != 0x0B && self != 0x0C
  }
}
