internal import Synchronization

/// Bounds how many lines the operator's log gets of events that clients cause, as often as they like.
/// Shared by the loops.
public final class LineQuota: Sendable {
  public enum Kind: Int, CaseIterable, Sendable {
    case signIn, refusal, end, act

    /// As the operator's log names it.
    public var name: String {
      switch self {
      case .signIn: "signed_in"
      case .refusal: "refused"
      case .end: "ended"
      case .act: "acted"
      }
    }
  }

  /// The most lines of a kind in a minute.
  public static let linesPerMinute = 60
  public static let minuteMilliseconds: Int64 = 60_000

  private struct Minute {
    /// When it began, in milliseconds of the monotonic clock.
    var since: Int64?
    var lines = 0
    var omitted = 0

    func isOver(_ now: Int64) -> Bool {
      since.map { now - $0 >= LineQuota.minuteMilliseconds } ?? true
    }

    mutating func admits(_ now: Int64) -> Bool {
      // What was left out is reported before another minute begins.
      if omitted == 0, isOver(now) { self = Minute(since: now) }
      guard lines < LineQuota.linesPerMinute else {
        omitted += 1
        return false
      }
      lines += 1
      return true
    }
  }

  /// By kind.
  private let minutes = Mutex(Kind.allCases.map { _ in Minute() })

  public init() {}

  /// Counts an event; returns whether it may be written.
  /// - Parameter now: milliseconds of the monotonic clock.
  public func admits(_ kind: Kind, now: Int64) -> Bool {
    minutes.withLock { $0[kind.rawValue].admits(now) }
  }

  /// Returns how many events of each kind were left out of minutes that are over.
  /// - Parameter now: milliseconds of the monotonic clock; `nil` = also of those that are not over.
  public func takeOmitted(now: Int64?) -> [(kind: Kind, count: Int)] {
    minutes.withLock { minutes in
      Kind.allCases.compactMap { kind in
        let minute = minutes[kind.rawValue]
        guard minute.omitted > 0, now.map(minute.isOver) ?? true else { return nil }
        if now == nil {
          // Other loops may still have events of this minute.
          minutes[kind.rawValue].omitted = 0
        } else {
          minutes[kind.rawValue] = Minute()
        }
        return (kind, minute.omitted)
      }
    }
  }
}
