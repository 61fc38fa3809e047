/// The requests of one loop to the log. They gather while the log works on the previous batch.
struct LogQueue {
  /// The size up to which requests gather; beyond it, the loop takes no input.
  static let limitBytes = 8_388_608
  /// What a request takes apart from its body.
  private static let sendBytes = 128
  private static let otherBytes = 64

  private var requests: [LogRequest] = []
  /// How many the last batch had: about as many gather next.
  private var lastCount = 0
  private var bytes = 0
  private var isLogBusy = false
  /// The number of the last batch; 0 = none yet.
  private var number: UInt32 = 0

  /// When the first send was received of those that gather, of those that the log works on, and of
  /// those that it has answered, in microseconds of the monotonic clock.
  private var gatheringSince: Int64?
  private var submittedSince: Int64?
  private var answeredSince: Int64?
  /// The number of acks since the last `takeAcknowledged`.
  private var acknowledged = 0

  var isFull: Bool { bytes > Self.limitBytes }
  /// Whether `takeBatch` returns a batch.
  var isReady: Bool { !isLogBusy && !requests.isEmpty }
  /// Whether no request gathers and the log has answered all others.
  var isIdle: Bool { !isLogBusy && requests.isEmpty }
  /// The number of the batch that the log works on; 0 if it is idle.
  var batchInLog: UInt32 { isLogBusy ? number : 0 }
  /// The number of the batch that gathers.
  var nextNumber: UInt32 { number == .max ? 1 : number + 1 }

  mutating func append(_ request: consuming LogRequest) {
    if requests.isEmpty { requests.reserveCapacity(lastCount) }
    requests.append(request)
    bytes += Self.otherBytes
  }

  mutating func append(_ send: LogRequest.Append) {
    bytes += send.body.count + Self.sendBytes - Self.otherBytes
    if gatheringSince == nil { gatheringSince = send.receivedAt }
    append(.append(send))
  }

  /// Returns what has gathered, if the log is ready for it.
  mutating func takeBatch() -> [LogRequest]? {
    guard isReady else { return nil }
    isLogBusy = true
    number = nextNumber
    submittedSince = gatheringSince
    gatheringSince = nil
    bytes = 0
    lastCount = requests.count
    defer { requests = [] }
    return requests
  }

  /// The log has answered the batch.
  mutating func completeBatch() {
    assert(isLogBusy, "the log answers each batch once")
    isLogBusy = false
    answeredSince = submittedSince
  }

  /// Removes gathered sends.
  mutating func removeSends(
    where isRemoved: (LogRequest.Append) -> Bool
  ) -> [LogRequest.Append] {
    var removed: [LogRequest.Append] = []
    requests.removeAll { request in
      guard case .append(let send) = request, isRemoved(send) else { return false }
      removed.append(send)
      return true
    }
    return removed
  }

  mutating func countAck() { acknowledged += 1 }

  /// The number of sends that were acknowledged since the last call, and when the first send of
  /// their batch was received, in microseconds of the monotonic clock.
  mutating func takeAcknowledged() -> (count: Int, since: Int64)? {
    guard acknowledged > 0, let answeredSince else { return nil }
    defer { acknowledged = 0 }
    return (acknowledged, answeredSince)
  }
}
