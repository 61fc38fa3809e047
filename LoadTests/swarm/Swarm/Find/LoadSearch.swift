/// A search for the largest load that passes: doubles the load until it fails, then bisects.
///
/// Pure: the caller runs what `next` asks for and reports the result. A failure counts only if a
/// second run fails as well, because another process may have disturbed the first. A load that
/// passes is not tried again, because no disturbance makes a relay faster.
public struct LoadSearch: Sendable {
  /// The result of one run.
  public enum Result: Equatable, Sendable {
    /// Every threshold was met.
    case holds
    /// A threshold was missed.
    case misses
    /// The run says nothing about the relay: swarm itself was the bottleneck.
    case void
  }

  /// The next step of the search.
  public enum Step: Equatable, Sendable {
    /// A run at this multiple of the load.
    case run(Double)
    /// The answer is in `holds` and `fails`.
    case over
  }

  /// The largest load that has passed so far.
  public private(set) var holds: Double?
  /// The smallest load that failed twice, and how: `void` if one of the two runs was void.
  public private(set) var fails: (factor: Double, result: Result)?

  private let most: Double
  private let precision: Double
  private var factor: Double
  /// The first failure of the current load, until a second run confirms it.
  private var doubt: Result?

  /// - Parameters:
  ///   - first: The smallest load; if it fails, there is no answer.
  ///   - most: The largest load.
  ///   - precision: The maximum relative error by which the answer is too small.
  public init(from first: Double = 1, to most: Double, precision: Double) {
    precondition(
      first > 0 && most >= first && precision > 0, "the search needs a range and a precision")
    factor = first
    self.most = most
    self.precision = precision
  }

  /// Takes the result of the last run, `nil` before the first, and returns the next step.
  public mutating func next(_ result: Result? = nil) -> Step {
    guard let result else { return .run(factor) }
    if result == .holds {
      holds = factor
      doubt = nil
    } else if let first = doubt {
      fails = (factor, first == .misses && result == .misses ? .misses : .void)
      doubt = nil
    } else {
      doubt = result
      return .run(factor)
    }
    guard let factor = nextFactor else { return .over }
    self.factor = factor
    return .run(factor)
  }

  private var nextFactor: Double? {
    guard let holds else { return nil }
    guard let fails else { return holds < most ? min(holds * 2, most) : nil }
    guard fails.factor / holds > 1 + precision else { return nil }
    // The geometric mean, so that every step gives equal information; rounded to few digits if
    // possible.
    let middle = (holds * fails.factor).squareRoot()
    let grain = middle >= 10 ? 10.0 : 100
    let rounded = (middle * grain).rounded() / grain
    return rounded > holds && rounded < fails.factor ? rounded : middle
  }
}
