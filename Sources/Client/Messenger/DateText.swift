/// Reads a point of time as people write it.
struct DateText {
  /// Milliseconds since 1970.
  var now: Int64
  var localTime: @Sendable (Int64) -> LocalTime

  static let examples = "2026-11-20, 20 nov, yesterday, mon, 14:02 or 2026-11-20 14:02"

  private static let millisecondsPerDay: Int64 = 86_400_000
  /// Longer texts are no dates.
  private static let limitBytes = 64

  private static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
  ]
  private static let weekdays = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]

  fileprivate struct Day {
    var year: Int
    var month: Int
    var day: Int
  }

  /// Returns the time in milliseconds since 1970: of a day its beginning, of a time without a day
  /// the last one that has passed; `nil` for what is no date.
  func read(_ text: String) -> Int64? {
    guard text.utf8.count <= Self.limitBytes else { return nil }
    var words = text.lowercased().split { $0 == " " || $0 == "," || $0 == "\t" }.map(String.init)
    // The form of ISO 8601.
    if words.count == 1, let t = words[0].firstIndex(of: "t"), words[0].first?.isNumber == true {
      words = [String(words[0][..<t]), String(words[0][words[0].index(after: t)...])]
    }
    guard !words.isEmpty else { return nil }
    if words.count > 1, ["am", "pm"].contains(words[words.count - 1]) {
      let half = words.removeLast()
      words[words.count - 1] += half
    }
    if let ago = ago(words) { return ago }
    if let time = Self.time(words[words.count - 1]) {
      words.removeLast()
      let today = localTime(now)
      guard let day = words.isEmpty ? Day(today) : day(words) else { return nil }
      let found = milliseconds(day, hour: time.hour, minute: time.minute)
      guard words.isEmpty, found > now else { return found }
      return milliseconds(
        Day(localTime(noon(today) - Self.millisecondsPerDay)), hour: time.hour, minute: time.minute)
    }
    return day(words).map { milliseconds($0, hour: 0, minute: 0) }
  }

  /// "3 days ago": the beginning of that day; "2 hours ago": that minute.
  private func ago(_ words: [String]) -> Int64? {
    guard words.count == 3, words[2] == "ago",
      let count = words[0] == "a" || words[0] == "an" ? 1 : Int64(words[0]), 0...100_000 ~= count
    else { return nil }
    let unit = words[1].hasSuffix("s") ? String(words[1].dropLast()) : words[1]
    switch unit {
    case "minute", "min": return now - count * 60_000
    case "hour": return now - count * 3_600_000
    case "day", "week":
      let days = unit == "week" ? 7 * count : count
      let day = Day(localTime(noon(localTime(now)) - days * Self.millisecondsPerDay))
      return milliseconds(day, hour: 0, minute: 0)
    default: return nil
    }
  }

  private func day(_ words: [String]) -> Day? {
    let today = localTime(now)
    switch words.count {
    case 1:
      if words[0] == "today" { return Day(today) }
      if words[0] == "yesterday" {
        return Day(localTime(noon(today) - Self.millisecondsPerDay))
      }
      if let weekday = Self.place(of: words[0], in: Self.weekdays) {
        let days = (today.weekday - weekday + 6) % 7 + 1
        return Day(localTime(noon(today) - Int64(days) * Self.millisecondsPerDay))
      }
      return numbers(words[0], today)
    // "20 nov", "nov 20".
    case 2, 3:
      let first = Self.place(of: words[0], in: Self.months)
      guard let month = first ?? Self.place(of: words[1], in: Self.months),
        let day = Self.number(words[first == nil ? 0 : 1])
      else { return nil }
      guard words.count == 3 else { return Self.latest(month + 1, day, today) }
      return Self.number(words[2]).flatMap {
        Self.valid(.init(year: $0, month: month + 1, day: day))
      }
    default: return nil
    }
  }

  /// "2026-11-20", "20.11.2026", "20.11.", "11-20".
  private func numbers(_ word: String, _ today: LocalTime) -> Day? {
    for (separator, isYearFirst) in [("-", true), ("/", true), (".", false)] as [(Character, Bool)]
    {
      let parts = word.split(separator: separator).map { Self.number(String($0)) }
      guard parts.count == 2 || parts.count == 3, !parts.contains(nil) else { continue }
      var numbers = parts.compactMap(\.self)
      if !isYearFirst { numbers.reverse() }
      return numbers.count == 3
        ? Self.valid(.init(year: numbers[0], month: numbers[1], day: numbers[2]))
        : Self.latest(numbers[0], numbers[1], today)
    }
    return nil
  }

  /// The last such day that is not in the future.
  private static func latest(_ month: Int, _ day: Int, _ today: LocalTime) -> Day? {
    let isLater = (month, day) > (today.month, today.day)
    // A leap day may be four years ago.
    for year in stride(from: isLater ? today.year - 1 : today.year, to: today.year - 9, by: -1) {
      if let found = valid(.init(year: year, month: month, day: day)) { return found }
    }
    return nil
  }

  private static func valid(_ day: Day) -> Day? {
    guard 1970...9999 ~= day.year, 1...12 ~= day.month else { return nil }
    let isLeap = day.year % 4 == 0 && (day.year % 100 != 0 || day.year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return 1...lengths[day.month - 1] ~= day.day ? day : nil
  }

  /// "14:02", "2:02pm", "2pm".
  private static func time(_ word: String) -> (hour: Int, minute: Int)? {
    var digits = word[...]
    var half: Substring?
    if digits.hasSuffix("am") || digits.hasSuffix("pm") {
      half = digits.suffix(2)
      digits = digits.dropLast(2)
    }
    let parts = digits.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 || (parts.count == 1 && half != nil),
      let hour = number(String(parts[0])),
      let minute = parts.count == 2 ? number(String(parts[1])) : 0, 0...59 ~= minute,
      parts.count == 1 || parts[1].utf8.count == 2
    else { return nil }
    guard let half else { return 0...23 ~= hour ? (hour, minute) : nil }
    guard 1...12 ~= hour else { return nil }
    return (hour % 12 + (half == "pm" ? 12 : 0), minute)
  }

  /// A number of at most four digits.
  private static func number(_ word: String) -> Int? {
    1...4 ~= word.utf8.count && word.utf8.allSatisfy { (0x30...0x39).contains($0) }
      ? Int(word) : nil
  }

  /// Finds a name by its first three letters or more.
  private static func place(of word: String, in names: [String]) -> Int? {
    guard word.utf8.count >= 3, word.allSatisfy({ $0.isASCII && $0.isLetter }) else { return nil }
    return names.firstIndex { $0.hasPrefix(word) }
  }

  // MARK: Local time

  /// Returns noon of a day, from which whole days lead to other days even if clocks were changed.
  private func noon(_ day: LocalTime) -> Int64 { milliseconds(Day(day), hour: 12, minute: 0) }

  /// Converts a local time, by correcting a guess: only the other direction is known.
  private func milliseconds(_ day: Day, hour: Int, minute: Int) -> Int64 {
    let wanted = LocalTime(
      year: day.year, month: day.month, day: day.day, hour: hour, minute: minute, weekday: 0)
    let epoch = LocalTime(year: 1970, month: 1, day: 1, hour: 0, minute: 0, weekday: 0)
    var guess = Self.minutes(from: epoch, to: wanted) * 60_000
    for _ in 0..<3 {
      let wrong = Self.minutes(from: localTime(guess), to: wanted)
      if wrong == 0 { break }
      guess += wrong * 60_000
    }
    return guess
  }

  private static func minutes(from start: LocalTime, to end: LocalTime) -> Int64 {
    let days = Moment.dayNumber(end) - Moment.dayNumber(start)
    return Int64(days * 1440 + (end.hour - start.hour) * 60 + end.minute - start.minute)
  }
}

extension DateText.Day {
  fileprivate init(_ time: LocalTime) {
    self.init(year: time.year, month: time.month, day: time.day)
  }
}
