internal import Glibc

/// An axis of a plot: maps values to positions between 0 and 1, and has labelled ticks.
struct Axis {
  struct Tick: Equatable {
    var value: Double
    var label: String
  }

  /// The lowest and the highest value on the axis.
  let low: Double
  let high: Double
  let isLogarithmic: Bool
  let ticks: [Tick]

  /// Returns an axis from 0, or another start, to a round number.
  ///
  /// - Parameter isExact: Whether it ends at `high` even if that is not round: for time.
  static func linear(_ low: Double = 0, _ high: Double, isExact: Bool = false) -> Axis {
    let span = max(high - low, 1e-3)
    let magnitude = pow(10, log10(span / 5).rounded(.down))
    let step = [1, 2, 5, 10].map { $0 * magnitude }.first { span / $0 <= 5.001 } ?? span
    let count = (span / step - 1e-9).rounded(isExact ? .down : .up)
    let ticks = (0...Int(count)).map {
      let value = low + Double($0) * step
      return Tick(value: value, label: number(value))
    }
    return Axis(
      low: low, high: isExact ? low + span : low + count * step, isLogarithmic: false, ticks: ticks)
  }

  /// Returns an axis from one power of ten to another that includes all values.
  static func logarithmic(_ values: some Sequence<Double>) -> Axis {
    let positive = values.filter { $0 > 0 }
    let first = log10(positive.min() ?? 1).rounded(.down)
    let last = max(log10(positive.max() ?? 10).rounded(.up), first + 1)
    let ticks = stride(from: first, through: last, by: max(1, ((last - first) / 6).rounded(.up)))
      .map { Tick(value: pow(10, $0), label: number(pow(10, $0))) }
    return Axis(low: pow(10, first), high: pow(10, last), isLogarithmic: true, ticks: ticks)
  }

  /// Returns an axis for percentiles by their number of nines, up to about `high`.
  static func nines(to high: Double) -> Axis {
    let last = max(1, high.rounded(.up))
    let ticks = (0...Int(last)).map { nines in
      let label =
        switch nines {
        case 0: "p0"
        case 1: "p90"
        case 2: "p99"
        default: "p99." + String(repeating: "9", count: nines - 2)
        }
      return Tick(value: Double(nines), label: label)
    }
    return Axis(low: 0, high: last, isLogarithmic: false, ticks: ticks)
  }

  /// Returns the position between 0 and 1; values outside are moved to the edge.
  func place(_ value: Double) -> Double {
    let value = min(max(value, low), high)
    return isLogarithmic ? log10(value / low) / log10(high / low) : (value - low) / (high - low)
  }

  /// Formats briefly: `0.01`, `250`, `20 k`, `1.5 M`.
  static func number(_ value: Double) -> String {
    switch value.magnitude {
    case 1e6...: Decimal.short((value / 1e4).rounded() / 100) + " M"
    case 1e4...: Decimal.short((value / 1e2).rounded() / 10) + " k"
    default: Decimal.short(value)
    }
  }
}
