public import Platform
internal import Wire

/// The sign-in of a device without a browser at a relay: the client's side of the device
/// authorization grant (RFC 8628).
///
/// A value without clock, socket or thread: answers and the time go in, and `next` tells what to do.
/// Confined to its executor, which performs one request after the other.
public struct DeviceLogin: Sendable {
  /// A request to the relay, without credentials. An answer of more than `answerLimitBytes` is to be
  /// given up, and one that a redirection has replaced.
  public enum Request: Equatable, Sendable {
    case get(String)
    /// The resource, and a body of JSON.
    case post(String, [UInt8])
  }

  /// What has become of a request.
  public enum Answer: Equatable, Sendable {
    case http(status: Int, body: [UInt8])
    /// None came; why, as a sentence without a full stop.
    case none(String)
  }

  /// What the executor must do.
  public enum Action: Equatable, Sendable {
    /// Perform the request, and pass its answer to `take`.
    case send(Request)
    /// Call `next` again, then.
    case wait(until: Instant)
    /// Nothing before the answer, or at all if the login has ended.
    case none
  }

  public enum Outcome: Equatable, Sendable {
    case signedIn(DeviceGrant)
    /// Another login gets another code.
    case expired
    /// The user has refused it on the other device.
    case denied
    /// The relay accepts names (`open`), or tokens that are made elsewhere (`jwt`).
    case notOffered(mode: Mode)
    /// There is no connection, or it was lost before there was a code.
    case unreachable(String)
    /// The relay refuses, or its answer is not one of RFC 8628. May contain text of the relay: pass
    /// it through ``TerminalText/line(_:)``.
    case failed(String)
  }

  public enum Mode: String, Sendable { case open, jwt }

  public enum State: Equatable, Sendable {
    /// No code yet.
    case starting
    /// The user may use the code; `problem` is why the last request had no useful answer.
    case waiting(DeviceCode, problem: String?)
    case ended(Outcome)
  }

  private enum Phase { case mode, code, token }

  /// More than any answer with a QR code.
  public static let answerLimitBytes = 64 << 10
  static let deviceLimitBytes = 64
  private static let problemLimit = 300
  /// What `slow_down` adds to the interval (RFC 8628 §3.5).
  static let slowDownMilliseconds = 5000
  /// The longest wait after requests without an answer, unless the interval is longer.
  static let backoffLimitMilliseconds = 60_000

  public private(set) var state = State.starting
  private let relay: RelayURL
  private let device: String
  private var phase = Phase.mode
  /// Whether a request is not answered.
  private var isAsking = false
  private var interval = 0
  /// How many requests for the token had no answer since the last one that had.
  private var failures = 0
  private var nextAt = Instant(nanoseconds: 0)
  private var expiresAt = Instant(nanoseconds: 0)

  /// - Parameter device: The name that is shown to the user on the other device; other characters
  ///   than printable ASCII are replaced, and it is cut at 64 bytes.
  public init(relay: RelayURL, device: String) {
    self.relay = relay
    self.device = String(
      decoding: device.utf8.prefix(Self.deviceLimitBytes).map { 0x20...0x7E ~= $0 ? $0 : 0x3F },
      as: UTF8.self)
  }

  /// Returns what to do now.
  public mutating func next(at now: Instant) -> Action {
    if isAsking { return .none }
    switch (state, phase) {
    case (.ended, _): return .none
    case (_, .mode):
      isAsking = true
      return .send(.get("v1/sign-in"))
    case (.waiting(let code, _), .token):
      if now >= expiresAt {
        state = .ended(.expired)
        return .none
      }
      if now < nextAt { return .wait(until: min(nextAt, expiresAt)) }
      isAsking = true
      return .send(.post("v1/device/token", Self.json("device_code", code.deviceCode)))
    default:
      isAsking = true
      return .send(.post("v1/device", Self.json("device", device)))
    }
  }

  /// Takes the answer to the request that `next` has returned last.
  public mutating func take(_ answer: Answer, at now: Instant) {
    guard isAsking else { return }
    isAsking = false
    switch (phase, answer) {
    case (.token, .none(let reason)): failed(reason, at: now)
    case (_, .none(let reason)): state = .ended(.unreachable(reason))
    case (.mode, .http(let status, let body)): takeMode(status, body)
    case (.code, .http(let status, let body)): takeCode(status, body, at: now)
    case (.token, .http(let status, let body)): takeToken(status, body, at: now)
    }
  }

  private mutating func takeMode(_ status: Int, _ body: [UInt8]) {
    let mode = status == 200 ? JSONNode(body)?["mode"]?.string : nil
    switch mode {
    case "accounts": phase = .code
    case .some(let mode):
      state = .ended(
        Mode(rawValue: mode).map { .notOffered(mode: $0) }
          ?? .failed("its way to sign in is not known to this wschat"))
    case nil:
      state = .ended(
        .failed(
          status == 200 || status == 404
            ? "it has no sign-in: it is an older relay, or no relay"
            : Self.problem(status, body)))
    }
  }

  private mutating func takeCode(_ status: Int, _ body: [UInt8], at now: Instant) {
    guard status == 200 else { return state = .ended(.failed(Self.problem(status, body))) }
    guard let code = DeviceCode(body, of: relay) else {
      return state = .ended(.failed("its code or its link is no such"))
    }
    phase = .token
    interval = code.intervalMilliseconds
    nextAt = now.adding(milliseconds: interval)
    expiresAt = now.adding(milliseconds: code.lifetimeMilliseconds)
    state = .waiting(code, problem: nil)
  }

  /// RFC 8628 §3.5.
  private mutating func takeToken(_ status: Int, _ body: [UInt8], at now: Instant) {
    if status == 200 {
      state = .ended(
        DeviceGrant(body).map { .signedIn($0) } ?? .failed("its answer has no valid token"))
      return
    }
    switch status == 400 ? JSONNode(body)?["error"]?.string : nil {
    case "authorization_pending": wait(at: now)
    case "slow_down":
      interval += Self.slowDownMilliseconds
      wait(at: now)
    case "expired_token": state = .ended(.expired)
    case "access_denied": state = .ended(.denied)
    default:
      if status == 408 || status == 429 || status >= 500 {
        failed(Self.problem(status, body), at: now)
      } else {
        state = .ended(.failed(Self.problem(status, body)))
      }
    }
  }

  private mutating func wait(at now: Instant) {
    failures = 0
    nextAt = now.adding(milliseconds: interval)
    if case .waiting(let code, _) = state { state = .waiting(code, problem: nil) }
  }

  /// Asks half as often after each failure in a row, as RFC 8628 §3.5 demands after time-outs.
  private mutating func failed(_ reason: String, at now: Instant) {
    failures = min(failures + 1, 16)
    let wait = min(interval << failures, max(interval, Self.backoffLimitMilliseconds))
    nextAt = now.adding(milliseconds: wait)
    if case .waiting(let code, _) = state { state = .waiting(code, problem: reason) }
  }

  /// Returns why a request was refused: RFC 9457, or RFC 6749 §5.2.
  public static func problem(_ status: Int, _ body: [UInt8]) -> String {
    let json = JSONNode(body)
    let text = (json?["detail"] ?? json?["error_description"])?.string ?? ""
    return text.isEmpty
      ? "it answers with HTTP status \(status)" : String(text.prefix(problemLimit))
  }

  private static func json(_ name: StaticString, _ value: String) -> [UInt8] {
    var json = Array("{\"\(name)\":".utf8)
    json.append(jsonString: value)
    return json + [UInt8(ascii: "}")]
  }
}
