/// A feature as every turn sees it. What else the turn tells it, of commits and requests, is in
/// `Shard+Turn.swift`, `Shard+Log.swift` and `Shard+Requests.swift`.
protocol Feature: AnyObject {
  /// When `tick` has something to do, in milliseconds of the monotonic clock; nil = never.
  var nextDeadline: Int64? { get }
  /// Does what is due.
  func tick(in audience: inout some ListsAudience & ~Copyable, _ now: Moment)
  /// The number of pending timers.
  var timerCount: Int { get }
  /// Forgets a session that ends.
  func end(_ session: Slot<Session>, in audience: inout some ListsAudience & ~Copyable)
  /// Whether its tables are much larger than their content.
  var isLoose: Bool { get }
  /// Releases the memory of the tables' unused ends.
  func shrink()
}

extension Feature {
  var nextDeadline: Int64? { nil }
  func tick(in audience: inout some ListsAudience & ~Copyable, _ now: Moment) {}
  var timerCount: Int { 0 }
  func end(_ session: Slot<Session>, in audience: inout some ListsAudience & ~Copyable) {}
  var isLoose: Bool { false }
  func shrink() {}
}

/// All features, each of its own type, so that no call is dynamic.
struct FeatureSet<each F: Feature> {
  private let features: (repeat each F)

  init(_ features: repeat each F) { self.features = (repeat each features) }

  var nextDeadline: Int64? {
    var deadline: Int64?
    for feature in repeat each features { deadline = earlier(deadline, feature.nextDeadline) }
    return deadline
  }

  func tick(in audience: inout some ListsAudience & ~Copyable, _ now: Moment) {
    for feature in repeat each features { feature.tick(in: &audience, now) }
  }

  var timerCount: Int {
    var count = 0
    for feature in repeat each features { count += feature.timerCount }
    return count
  }

  func end(_ session: Slot<Session>, in audience: inout some ListsAudience & ~Copyable) {
    for feature in repeat each features { feature.end(session, in: &audience) }
  }

  var isLoose: Bool {
    var isLoose = false
    for feature in repeat each features { isLoose = isLoose || feature.isLoose }
    return isLoose
  }

  func shrink() {
    for feature in repeat each features { feature.shrink() }
  }
}
