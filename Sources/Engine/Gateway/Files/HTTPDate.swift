/// A time as HTTP writes it (RFC 9110 §5.6.7).
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// - Parameter milliseconds: since 1970.
  static func text(_ milliseconds: Int64) -> String {
    let seconds = max(0, milliseconds) / 1000
    let (day, second) = (seconds / 86_400, seconds % 86_400)
    // The civil date, by years that begin in March: so the leap day is the last of its year.
    let shifted = day + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let date = dayOfYear - (153 * month + 2) / 5 + 1
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    let clock = [second / 3600, second / 60 % 60, second % 60].map(twoDigits)
    return "\(days[Int(day % 7)]), \(twoDigits(date)) \(months[Int((month + 2) % 12)]) \(year) "
      + "\(clock.joined(separator: ":")) GMT"
  }

  private static func twoDigits(_ number: Int64) -> String {
    (number < 10 ? "0" : "") + String(number)
  }
}
