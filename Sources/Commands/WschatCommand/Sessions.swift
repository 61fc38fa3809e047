import Client
import Platform
import Terminal
import Wire

/// The sessions of a user at a relay: the devices that are signed in.
enum Sessions {
  struct Session {
    var id: String
    var device: String
    /// Milliseconds since 1970.
    var usedAt: Int64
    var address: String
    var isCurrent: Bool
  }

  /// Why a request was not answered as wanted; prints as a sentence without a full stop, and may have
  /// text of the relay.
  enum Failure: Error, CustomStringConvertible {
    /// The session of this device has ended.
    case signedOut
    case noSession(String)
    case unreachable(String)
    case refused(String)

    var description: String {
      switch self {
      case .signedOut: "this device was signed out; run wschat login"
      case .noSession(let id): "there is no session \(id); wschat sessions lists them"
      case .unreachable(let reason): reason
      case .refused(let reason): "the relay refuses: \(reason)"
      }
    }
  }

  static let answerLimitBytes = 1 << 20

  /// Returns the sessions, this device's included.
  static func list(_ request: RelayRequest) throws(Failure) -> [Session] {
    let answer = try send("GET", "", request)
    guard answer.status == 200, let list = JSONNode(answer.body)?["sessions"]?.elements else {
      throw refusal(answer, "")
    }
    return list.compactMap { json in
      guard let id = json["session"]?.string, DeviceGrant.isSession(id) else { return nil }
      return Session(
        id: id, device: json["device"]?.string ?? "", usedAt: json["used_at"]?.integer ?? 0,
        address: json["address"]?.string ?? "", isCurrent: json["current"]?.boolean == true)
    }
  }

  /// Ends a session with its connections.
  /// - Parameter id: Of `list`, or "current".
  static func end(_ id: String, _ request: RelayRequest) throws(Failure) {
    let answer = try send("DELETE", "/\(id)", request)
    if answer.status != 204 { throw refusal(answer, id) }
  }

  private static func send(
    _ method: String, _ path: String, _ request: RelayRequest
  ) throws(Failure) -> RelayRequest.Answer {
    do throws(RelayRequest.Failure) {
      return try request.send(
        method, "v1/sessions\(path)", accepting: "application/json", limitBytes: answerLimitBytes)
    } catch {
      throw .unreachable(error.advised)
    }
  }

  private static func refusal(_ answer: RelayRequest.Answer, _ id: String) -> Failure {
    switch answer.status {
    case 401: .signedOut
    case 404 where !id.isEmpty: .noSession(id)
    case 200: .refused("its answer has no sessions")
    default: .refused(DeviceLogin.problem(answer.status, answer.body))
    }
  }
}
