/// The name of an object of a backup, which says what it is:
/// `0000000042.1795816927123.point-0000000007` or `0000000041.1795816926004.part`.
struct ObjectName: Hashable, Sendable {
  /// The place in the order of all objects, from 1.
  var number: Int
  /// When it was written: milliseconds since 1970.
  var time: Int64
  /// The number of the object that a restore of this point begins with; `nil` = it is only a part of
  /// what a later point is made of.
  var base: Int?

  private static let numberDigits = 10
  private static let timeDigits = 13

  var text: String {
    let kind = base.map { "point-\(Self.padded(number: $0))" } ?? "part"
    let time = Self.padded(Int(time), Self.timeDigits)
    return "\(Self.padded(number: number)).\(time).\(kind)"
  }

  init(number: Int, time: Int64, base: Int?) {
    (self.number, self.time, self.base) = (number, time, base)
  }

  /// `nil` for the name of anything else.
  init?(_ text: String) {
    let fields = text.split(separator: ".", omittingEmptySubsequences: false)
    guard fields.count == 3, let number = Int(fields[0]), let time = Int64(fields[1]) else {
      return nil
    }
    self.init(number: number, time: time, base: Int(fields[2].dropFirst("point-".count)))
    guard self.text == text else { return nil }
  }

  /// Returns the number of an object as names have it.
  static func padded(number: Int) -> String { padded(number, numberDigits) }

  private static func padded(_ number: Int, _ digits: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
