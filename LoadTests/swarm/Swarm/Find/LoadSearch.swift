/// Looks for the largest load that holds: doubles it until it fails, then halves what lies between.
///
/// Pure: whoever has it runs what `next` asks for, and tells what came of it. A failure counts only
/// when a second run has failed as well, since one may be another process that wanted the machine;
/// a load that holds is not doubted, for nothing makes a relay faster by chance.
public struct LoadSearch: Sendable {
  /// What came of one run.
  public enum Result: Equatable, Sendable {
    /// Every threshold was met.
    case holds
    /// One was not.
    case misses
    /// The run says nothing about the relay: swarm itself was the limit.
    case void
  }

  /// What is to be done next.
  public enum Step: Equatable, Sendable {
    /// A run at this multiple of the load.
    case run(Double)
    /// The answer is in `holds` and `fails`.
    case over
  }

  /// The largest load that held so far.
  public private(set) var holds: Double?
  /// The smallest load that failed, twice, and how: `void` if one of the two runs was.
  public private(set) var fails: (factor: Double, result: Result)?

  private let most: Double
  private let precision: Double
  private var factor: Double
  /// Of the present load; of two failures the first.
  private var doubt: Result?

  /// - Parameters:
  ///   - first: the smallest load; where it fails there is no answer.
  ///   - most: no load is larger.
  ///   - precision: the answer is at most by this part of itself too small.
  public init(from first: Double = 1, to most: Double, precision: Double) {
    precondition(first > 0 && most >= first && precision > 0, "there is something to search")
    factor = first
    self.most = most
    self.precision = precision
  }

  /// Takes what came of the last run, `nil` before the first.
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
    // In the middle by ratio, so that every step says as much. Few digits, where they suffice.
    let middle = (holds * fails.factor).squareRoot()
    let grain = middle >= 10 ? 10.0 : 100
    let rounded = (middle * grain).rounded() / grain
    return rounded > holds && rounded < fails.factor ? rounded : middle
  }
}
