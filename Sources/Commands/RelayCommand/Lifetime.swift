import ArgumentParser
import Glibc

/// A duration such as `90s`, `15m`, `24h` or `30d`.
struct Lifetime: ExpressibleByArgument, CustomStringConvertible {
  static let limitSeconds = 3650 * 86_400

  var seconds: Int

  init(seconds: Int) { self.seconds = seconds }

  init?(argument: String) {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    guard let unit = argument.last.flatMap({ units[$0] }), let count = Int(argument.dropLast()),
      count > 0, count <= Self.limitSeconds / unit
    else { return nil }
    seconds = count * unit
  }

  var description: String {
    for (unit, length) in [("d", 86_400), ("h", 3600), ("m", 60)]
    where seconds % length == 0 && seconds > length { return "\(seconds / length)\(unit)" }
    return "\(seconds)s"
  }
}
