import Glibc
import Messenger

extension LocalTime {
  /// Converts to the time zone of this process.
  @Sendable init(milliseconds: Int64) {
    var seconds = time_t(milliseconds / 1000)
    var parts = unsafe tm()
    unsafe localtime_r(&seconds, &parts)
    unsafe self.init(
      year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
      hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec),
      weekday: Int(parts.tm_wday))
  }
}

extension LocalTime {
  /// Follows the time zone of the machine, which may be changed while a program runs (tzset(3));
  /// localtime_r(3) does not.
  static func followZone() { tzset() }
}
