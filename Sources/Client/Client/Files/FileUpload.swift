internal import WebSocket

/// The upload of a file to a relay: the client's side of tus 1.0.0 (tus.io, "Resumable upload").
///
/// A value without socket, file or thread: answers go in, and `next` tells what to do. What the relay
/// has is never sent again: after each interruption the relay is asked for its offset.
package struct FileUpload: Sendable {
  package enum Request: Equatable, Sendable {
    /// `POST`, with this `Upload-Metadata`.
    case create(metadata: String)
    /// `HEAD`: how much does the relay have?
    case ask(file: String)
    /// `PATCH` with these bytes of the file.
    case append(file: String, Range<Int64>)
  }

  /// What has become of a request.
  package enum Answer: Sendable {
    case http(AnswerHead, body: [UInt8])
    /// None came, or not all of it; why, as a sentence without a full stop.
    case none(String)
  }

  package enum Action: Equatable, Sendable {
    /// Perform the request, and pass its answer to `take`.
    case send(Request)
    /// Call `next` again after this time; `reason` is why the last request had no useful answer.
    case wait(milliseconds: Int, reason: String)
    case end(Outcome)
  }

  package enum Outcome: Equatable, Sendable {
    case uploaded(file: String)
    /// May contain text of the relay.
    case refused(String)
  }

  /// The most bytes of a request: a proxy that collects a request before it passes it on loses no more
  /// when a connection breaks.
  package static let requestLimitBytes: Int64 = 8 << 20
  /// How many times the relay may have forgotten the upload, as after its data was lost.
  private static let restartsLimit = 3

  package let sizeBytes: Int64
  /// The file's id, once the relay has given it.
  package private(set) var file: String?
  /// How much the relay has, as far as it has said.
  package private(set) var offset: Int64 = 0
  private let metadata: String
  private var isOffsetKnown = false
  private var backoff = Backoff(firstMilliseconds: 500, limitMilliseconds: 30_000)
  private var wait: (milliseconds: Int, reason: String)?
  private var restarts = 0
  private var outcome: Outcome?

  /// - Parameter file: The id that the relay has given an earlier upload of the same file, which goes on.
  package init(name: String, room: String, sizeBytes: Int64, continuing file: String? = nil) {
    self.sizeBytes = sizeBytes
    self.file = file
    metadata = [("filename", name), ("room", room)].map { key, value in
      "\(key) \(Base64.encode(Array(value.utf8)))"
    }.joined(separator: ",")
  }

  package mutating func next() -> Action {
    if let outcome { return .end(outcome) }
    if let wait {
      self.wait = nil
      return .wait(milliseconds: wait.milliseconds, reason: wait.reason)
    }
    guard let file else { return .send(.create(metadata: metadata)) }
    guard isOffsetKnown else { return .send(.ask(file: file)) }
    return .send(.append(file: file, offset..<min(sizeBytes, offset + Self.requestLimitBytes)))
  }

  /// Takes the answer to the request that `next` has returned last.
  package mutating func take(_ answer: Answer, using random: inout some RandomNumberGenerator) {
    switch answer {
    case .none(let reason): retry(reason, nil, &random)
    case .http(let head, let body):
      let problem = DeviceLogin.problem(head.status, body)
      switch head.status {
      case 200..<300 where file == nil: takeCreated(head)
      case 200..<300: takeOffset(head, &random)
      case 404, 410:
        guard file != nil, restarts < Self.restartsLimit else { return outcome = .refused(problem) }
        restarts += 1
        (file, offset) = (nil, 0)
        retry(problem, nil, &random)
      // It has another offset, an earlier connection still has the upload, or bytes were changed on the
      // way: the relay's offset is asked for.
      case 409 where file != nil, 423, 460, 408, 425, 429, 500, 502...504:
        retry(problem, head.number("retry-after"), &random)
      default: outcome = .refused(problem)
      }
    }
  }

  private mutating func takeCreated(_ head: AnswerHead) {
    // Only its last part is used: the token goes to no other host.
    let id = head.fields["location"].map { location in
      location.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last.map(String.init) ?? ""
    }
    guard let id, RelayURL.isSegment(id) else {
      return outcome = .refused("its answer names no file")
    }
    file = id
    isOffsetKnown = true
    if sizeBytes == 0 { outcome = .uploaded(file: id) }
  }

  private mutating func takeOffset(
    _ head: AnswerHead, _ random: inout some RandomNumberGenerator
  ) {
    // A picture that is complete has another size: that of what the relay has made of it.
    if let file, let taken = head.number("upload-offset"), taken == head.number("upload-length") {
      return outcome = .uploaded(file: file)
    }
    guard let file, let taken = head.number("upload-offset"), 0...sizeBytes ~= taken else {
      return outcome = .refused("its answer has no valid offset")
    }
    if taken == sizeBytes { return outcome = .uploaded(file: file) }
    let wasKnown = isOffsetKnown
    if taken > offset { backoff.reset() }
    // An answer to bytes that moves nothing would be asked for again at once.
    if wasKnown, taken <= offset { retry("it has taken nothing", nil, &random) }
    offset = taken
    isOffsetKnown = true
  }

  private mutating func retry(
    _ reason: String, _ afterSeconds: Int64?, _ random: inout some RandomNumberGenerator
  ) {
    isOffsetKnown = false
    let wait = backoff.nextMilliseconds(using: &random)
    // A wait that the relay wants is bounded: it may be a mistake.
    let wanted = Int(min(afterSeconds ?? 0, 60)) * 1000
    self.wait = (max(wait, wanted), reason)
  }
}
