import Client
import Wire

/// Whether the relay answers: the model that docs/messenger.md describes, and that the page follows as
/// well. What is shown is never better than the oldest thing that the relay has not answered.
extension Chat {
  /// An answer that takes longer than this is overdue.
  static let overdueMilliseconds: Int64 = 2000
  /// While something is unanswered, the time that is shown is at most this old.
  static let healthStepMilliseconds: Int64 = 500

  /// A request whose answer is awaited.
  struct Asked: Sendable {
    var question: Question
    /// Milliseconds since 1970.
    var at: Int64

    enum Question: Sendable { case people, history }
  }

  /// Records a request that the user waits for.
  mutating func recordAsked(_ question: Asked.Question) {
    asked.append(.init(question: question, at: now))
  }

  /// Records that the driver has requested older entries.
  public mutating func historyIsAsked() { recordAsked(.history) }

  /// Records the answer to the oldest such request.
  mutating func recordAnswered(_ question: Asked.Question) {
    guard let place = asked.firstIndex(where: { $0.question == question }) else { return }
    asked.remove(at: place)
  }

  /// Since when the relay owes an answer to a ping, a request or a message, in milliseconds since
  /// 1970; `nil` if it owes none.
  var unansweredSince: Int64? {
    guard isLive else { return nil }
    let sent = outgoing.first { $0.refusal == nil }.map { max($0.at, $0.againAt ?? $0.at) }
    let oldest = [times.pings.first, asked.map(\.at).min(), sent].compactMap(\.self).min()
    // Neither without a connection, nor while this process did not run, could it be seen to answer.
    return oldest.map { max($0, times.connected, times.resumed) }
  }

  /// For how many seconds the relay has owed an answer that is overdue.
  var overdueSeconds: Int64? {
    guard let since = unansweredSince, now - since >= Self.overdueMilliseconds else { return nil }
    return (now - since) / 1000
  }

  /// The last round trip, but never less than the age of what is unanswered.
  func shownRoundTrip(_ measured: Int?) -> Int? {
    guard let measured, let since = unansweredSince else { return measured }
    return max(measured, Int(clamping: now - since))
  }

  /// When what is shown changes, in milliseconds since 1970.
  var healthDeadline: Int64 {
    guard let since = unansweredSince else { return .max }
    let age = max(0, now - since)
    if age >= Self.overdueMilliseconds { return since + age / 1000 * 1000 + 1000 }
    guard case .live(_?) = connection else { return since + Self.overdueMilliseconds }
    let step = Self.healthStepMilliseconds
    return since + age / step * step + step
  }

  /// Takes the answer to a ping. One that was overdue tells how long the relay did not answer, not
  /// how fast it is now: that is measured anew.
  mutating func takePong() {
    guard !times.pings.isEmpty else { return }
    let pinged = times.pings.removeFirst()
    let isOverdue = now - pinged >= Self.overdueMilliseconds
    if isOverdue { times.recovered = now }
    let isOld = isOverdue || pinged < max(times.resumed, times.recovered)
    connection = .live(roundTripMilliseconds: isOld ? nil : Int(now - pinged))
    if isOld, times.pings.isEmpty { times.nextPing = now }
  }

  mutating func reconnect(_ effects: inout [Effect]) {
    if conditions[.signedOut] != nil {
      openSignIn(&effects)
    } else if case .ended = connection {
      complain("This connection has ended for good. Start wschat again.")
    } else {
      effects.append(.reconnect)
    }
  }

  // MARK: Pauses

  /// An event that comes later than this after the deadline tells that the process did not run: it
  /// was stopped, or the machine slept.
  static let pauseMilliseconds: Int64 = 5000

  /// Records a time in which the process did not run, which does not count as the relay's.
  mutating func recordPause(until now: Int64) {
    guard now - self.now > Self.pauseMilliseconds, let deadline,
      now - max(self.now, deadline) > Self.pauseMilliseconds
    else { return }
    times.resumed = now
  }
}
