import Glibc

/// A time of day with its date and the offset of its zone: `2026-11-27T20:21:21.123+01:00` (RFC 3339).
struct LogTime: CustomStringConvertible {
  /// Milliseconds since 1970.
  var milliseconds: Int64

  /// In the system's zone, or the one that TZ names.
  var description: String {
    var seconds = time_t(milliseconds / 1000)
    var parts = unsafe tm()
    unsafe localtime_r(&seconds, &parts)
    let (year, month, day) = unsafe (parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday)
    let (hour, minute, second) = unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec)
    let offset = unsafe parts.tm_gmtoff / 60
    let zone = "\(digits(abs(offset) / 60)):\(digits(abs(offset) % 60))"
    return "\(digits(year, 4))-\(digits(month))-\(digits(day))"
      + "T\(digits(hour)):\(digits(minute)):\(digits(second))"
      + ".\(digits(milliseconds % 1000, 3))\(offset < 0 ? "-" : "+")\(zone)"
  }

  private func digits(_ number: some BinaryInteger, _ count: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}
