import DequeModule
import Wire

/// The requests of one loop to the log. They gather while the log works on the previous batch.
///
/// A batch has any number of sends and a limited number of other requests. The rest waits for later
/// batches, and with it what the same users send afterwards: the order of a user's requests holds. So
/// the acks of a batch wait only for a bounded part of what happens when thousands of clients come or
/// leave at once.
struct LogQueue {
  /// The size up to which requests gather; beyond it, the loop takes no input.
  static let limitBytes = 8_388_608
  /// How many requests other than sends a batch has at most.
  static let othersPerBatch = 512
  /// What a request takes apart from its body.
  private static let sendBytes = 128
  private static let otherBytes = 64

  /// The next batch.
  private var requests: [LogRequest] = []
  /// The number of those that are not sends.
  private var others = 0
  private var bytes = 0
  /// How many the last batch had: about as many gather next.
  private var lastCount = 0

  /// What follows the next batch, and the number of requests in it by user.
  private var waiting: Deque<LogRequest> = []
  private var waitingUsers: [String: Int] = [:]
  private var waitingBytes = 0

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
  /// The trace of the last commit.
  private var trace: TraceID?

  var isFull: Bool { bytes + waitingBytes > Self.limitBytes }
  /// Whether `takeBatch` returns a batch.
  var isReady: Bool { !isLogBusy && !requests.isEmpty }
  /// Whether no request gathers and the log has answered all others.
  var isIdle: Bool { !isLogBusy && requests.isEmpty }
  /// The number of the batch that the log works on; 0 if it is idle.
  var batchInLog: UInt32 { isLogBusy ? number : 0 }
  /// The number of the batch that gathers.
  var nextNumber: UInt32 { number == .max ? 1 : number + 1 }

  mutating func append(_ request: consuming LogRequest) {
    if waiting.isEmpty && others < Self.othersPerBatch {
      others += 1
      gather(request)
    } else {
      wait(request)
    }
  }

  mutating func append(_ send: LogRequest.Append) {
    if waiting.isEmpty || waitingUsers[send.user] == nil {
      gather(send)
    } else {
      wait(.append(send))
    }
  }

  private mutating func gather(_ send: LogRequest.Append) {
    if gatheringSince == nil { gatheringSince = send.receivedAt }
    gather(.append(send))
  }

  private mutating func gather(_ request: consuming LogRequest) {
    if requests.isEmpty { requests.reserveCapacity(lastCount) }
    bytes += Self.bytes(of: request)
    requests.append(request)
  }

  private mutating func wait(_ request: consuming LogRequest) {
    if let user = request.user { waitingUsers[user, default: 0] += 1 }
    waitingBytes += Self.bytes(of: request)
    waiting.append(request)
  }

  private static func bytes(of request: LogRequest) -> Int {
    if case .append(let send) = request { send.body.count + sendBytes } else { otherBytes }
  }

  /// Moves what waits to the next batch, as far as that has room for it.
  private mutating func gatherWaiting() {
    while others < Self.othersPerBatch, let request = waiting.popFirst() {
      waitingBytes -= Self.bytes(of: request)
      if let user = request.user, let count = waitingUsers[user] {
        waitingUsers[user] = count > 1 ? count - 1 : nil
      }
      if case .append(let send) = request {
        gather(send)
      } else {
        others += 1
        gather(request)
      }
    }
    assert(!waiting.isEmpty || waitingUsers.isEmpty && waitingBytes == 0)
  }

  /// Returns what has gathered, if the log is ready for it.
  mutating func takeBatch() -> [LogRequest]? {
    guard isReady else { return nil }
    isLogBusy = true
    number = nextNumber
    submittedSince = gatheringSince
    let batch = requests
    lastCount = batch.count
    requests = []
    (others, bytes, gatheringSince) = (0, 0, nil)
    gatherWaiting()
    return batch
  }

  /// The log has answered the batch.
  mutating func completeBatch() {
    assert(isLogBusy, "the log answers each batch once")
    isLogBusy = false
    answeredSince = submittedSince
  }

  /// Removes sends that the log was not given yet.
  mutating func removeSends(
    where isRemoved: (LogRequest.Append) -> Bool
  ) -> [LogRequest.Append] {
    var removed: [LogRequest.Append] = []
    func isKept(_ request: LogRequest) -> Bool {
      guard case .append(let send) = request, isRemoved(send) else { return true }
      removed.append(send)
      return false
    }
    requests = requests.filter(isKept)
    let wereWaiting = waiting
    (waiting, waitingUsers, waitingBytes) = ([], [:], 0)
    for request in wereWaiting where isKept(request) { wait(request) }
    return removed
  }

  mutating func countAck() { acknowledged += 1 }

  mutating func record(_ trace: CommitTrace?) { if let trace { self.trace = trace.id } }

  /// The number of sends that were acknowledged since the last call, when the first send of
  /// their batch was received, in microseconds of the monotonic clock, and the trace of the batch.
  mutating func takeAcknowledged() -> (count: Int, since: Int64, trace: TraceID?)? {
    guard acknowledged > 0, let answeredSince else { return nil }
    defer { (acknowledged, trace) = (0, nil) }
    return (acknowledged, answeredSince, trace)
  }
}

extension LogRequest {
  /// Whose requests stay in their order; `nil` if it does not matter.
  fileprivate var user: String? {
    switch self {
    case .append(let send): send.user
    case .subscribe(let subscribe): subscribe.user
    case .unsubscribe(_, let user), .forget(_, let user, _), .typing(_, let user, _, _): user
    case .memberships(_, let user, _, _, _): user
    case .mark(_, let marks, _): marks.user
    case .trace(let trace): trace.user
    case .block(let block): block.user
    case .report(let report): report.user
    case .ban(_, let order), .deleteRoom(_, let order), .act(_, let order), .erase(_, let order):
      order.user
    case .accept(_, let user, _): user
    case .presence, .file: nil
    }
  }
}
