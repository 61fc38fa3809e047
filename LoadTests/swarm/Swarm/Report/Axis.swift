internal import Glibc

/// One direction of a plot: from values to places between 0 and 1, with the values that are named.
struct Axis {
  struct Tick: Equatable {
    var value: Double
    var label: String
  }

  /// The least and the greatest value that has a place.
  let low: Double
  let high: Double
  let isLogarithmic: Bool
  let ticks: [Tick]

  /// From 0, or another beginning, to where the ticks are round numbers.
  ///
  /// - Parameter isExact: ends at `high`, though that be no round number: for time.
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

  /// From one power of ten to another, so that all of the values lie between them.
  static func logarithmic(_ values: some Sequence<Double>) -> Axis {
    let positive = values.filter { $0 > 0 }
    let first = log10(positive.min() ?? 1).rounded(.down)
    let last = max(log10(positive.max() ?? 10).rounded(.up), first + 1)
    let ticks = stride(from: first, through: last, by: max(1, ((last - first) / 6).rounded(.up)))
      .map { Tick(value: pow(10, $0), label: number(pow(10, $0))) }
    return Axis(low: pow(10, first), high: pow(10, last), isLogarithmic: true, ticks: ticks)
  }

  /// Percentiles by the nines in them, to about so many.
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

  /// Between 0 and 1; what lies outside is moved to the edge.
  func place(_ value: Double) -> Double {
    let value = min(max(value, low), high)
    return isLogarithmic ? log10(value / low) / log10(high / low) : (value - low) / (high - low)
  }

  /// Short: `0.01`, `250`, `20 k`, `1.5 M`.
  static func number(_ value: Double) -> String {
    switch value.magnitude {
    case 1e6...: Decimal.short((value / 1e4).rounded() / 100) + " M"
    case 1e4...: Decimal.short((value / 1e2).rounded() / 10) + " k"
    default: Decimal.short(value)
    }
  }
}
