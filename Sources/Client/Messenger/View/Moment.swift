/// A time formatted relative to the current time.
struct Moment {
  var time: LocalTime
  var now: LocalTime
  var clockForm = Settings.Clock.h24

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// "14:02", or "2:02 pm".
  var clock: String {
    let minute = Moment.two(time.minute)
    switch clockForm {
    case .h24: return "\(Moment.two(time.hour)):\(minute)"
    case .h12:
      let hour = time.hour % 12
      return "\(hour == 0 ? 12 : hour):\(minute) \(time.hour < 12 ? "am" : "pm")"
    }
  }

  /// "Today", "Yesterday", "Mon 17 Nov 2025".
  var day: String {
    switch daysAgo {
    case 0: "Today"
    case 1: "Yesterday"
    default: "\(weekday) \(time.day) \(month) \(time.year)"
    }
  }

  /// The shortest unambiguous form: "12:40", "Yesterday", "Mon", "17 Nov", "17 Nov 25".
  var brief: String {
    switch daysAgo {
    case 0: clock
    case 1: "Yesterday"
    case 2..<7: weekday
    default:
      time.year == now.year
        ? "\(time.day) \(month)" : "\(time.day) \(month) \(Moment.two(time.year % 100))"
    }
  }

  /// For use after "last seen": "12:40", "yesterday 12:40", "17 Nov".
  var seen: String {
    switch daysAgo {
    case 0: clock
    case 1: "yesterday \(clock)"
    case 2..<7: "\(weekday) \(clock)"
    default: brief
    }
  }

  /// For use after "until": "12:40", "yesterday 12:40", "Mon 17 Nov 2025 12:40".
  var until: String {
    switch daysAgo {
    case 0: clock
    case 1: "yesterday \(clock)"
    default: "\(day) \(clock)"
    }
  }

  /// Returns the time left until `end` in milliseconds since 1970: "0:42".
  static func left(until end: Int64, now: Int64) -> String {
    let seconds = seconds(until: end, now: now)
    return seconds < 3600
      ? "\(seconds / 60):\(two(Int(seconds % 60)))"
      : "\(seconds / 3600):\(two(Int(seconds / 60 % 60))):\(two(Int(seconds % 60)))"
  }

  /// Returns the seconds left, rounded up.
  static func seconds(until end: Int64, now: Int64) -> Int64 {
    end > now ? Int64((UInt64(bitPattern: end &- now) + 999) / 1000) : 0
  }

  static func isSameDay(_ a: LocalTime, _ b: LocalTime) -> Bool {
    a.day == b.day && a.month == b.month && a.year == b.year
  }

  private var daysAgo: Int { Moment.dayNumber(now) - Moment.dayNumber(time) }

  private var weekday: String {
    Moment.weekdays.indices.contains(time.weekday) ? Moment.weekdays[time.weekday] : ""
  }

  private var month: String {
    Moment.months.indices.contains(time.month - 1) ? Moment.months[time.month - 1] : ""
  }

  /// Returns the number of days since a fixed day, in the Gregorian calendar.
  static func dayNumber(_ time: LocalTime) -> Int {
    // Years begin in March here, so that a leap day is the last day of its year.
    let year = time.month > 2 ? time.year : time.year - 1
    let month = time.month > 2 ? time.month - 3 : time.month + 9
    let leaps = (year / 4) - (year / 100) + (year / 400)
    return year * 365 + leaps + (month * 153 + 2) / 5 + time.day
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Chat {
  func moment(_ time: Int64) -> Moment {
    Moment(time: localTime(time), now: localTime(now), clockForm: settings.clock)
  }
}
