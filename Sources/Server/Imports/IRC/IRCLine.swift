/// A line of a log of irssi, WeeChat or ZNC: each has a form of its own, so a log need not say which it is.
enum IRCLine: Equatable {
  struct Day: Equatable {
    var year: Int
    var month: Int
    var day: Int

    init?(year: Int, month: Int, day: Int) {
      guard (1970...9999).contains(year), (1...12).contains(month),
        (1...Self.days(in: month, of: year)).contains(day)
      else { return nil }
      (self.year, self.month, self.day) = (year, month, day)
    }

    private static func days(in month: Int, of year: Int) -> Int {
      let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      return month == 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }
  }

  /// In the order of a clock; the seconds are 0 where a log has none.
  struct Time: Equatable {
    var hour: Int
    var minute: Int
    var second: Int
  }

  /// - day: if the line has it; otherwise it is that of the lines before.
  case message(day: Day?, Time, nick: String, text: String)
  /// The next lines are of this day.
  case day(Day)
  /// Joins, topics and what else is no message.
  case notice
  /// No line of these logs.
  case unknown

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  init(_ line: String) {
    if line.hasPrefix("--- ") {
      self = Self.dayChange(line)
      return
    }
    var rest = Substring(line)
    let isBracketed = rest.first == "["
    if isBracketed { rest = rest.dropFirst() }
    var day: Day?
    if let found = Day(rest.prefix(10)) {
      day = found
      rest = rest.dropFirst(11)
    }
    guard let time = Time(rest.prefix { $0.isNumber || $0 == ":" }) else {
      self = .unknown
      return
    }
    rest = rest.drop { $0.isNumber || $0 == ":" }
    if isBracketed {
      guard rest.first == "]" else {
        self = .unknown
        return
      }
      rest = rest.dropFirst()
    }
    let separator = rest.first
    rest = rest.dropFirst()
    switch separator {
    case "\t": self = Self.weechat(day, time, rest)
    case " ": self = Self.message(day, time, rest)
    default: self = .unknown
    }
  }

  /// `--- Log opened Sat Jan 01 12:00:00 2005` or `--- Day changed Sun Jan 02 2005`
  private static func dayChange(_ line: String) -> IRCLine {
    let words = line.split(separator: " ")
    guard words.count >= 7, let year = Int(words[words.count - 1]),
      let month = months.firstIndex(of: String(words[4])), let day = Int(words[5]),
      let date = Day(year: year, month: month + 1, day: day)
    else { return line.hasPrefix("--- Log closed") ? .notice : .unknown }
    return words[1] == "Log" && words[2] == "closed" ? .notice : .day(date)
  }

  /// The prefix, a tab, and the text; an action has `*` as its prefix.
  private static func weechat(_ day: Day?, _ time: Time, _ rest: Substring) -> IRCLine {
    guard let tab = rest.firstIndex(of: "\t") else { return .unknown }
    let prefix = rest[..<tab].drop { $0 == " " }
    let text = rest[rest.index(after: tab)...]
    switch prefix {
    case "-->", "<--", "--", "=!=", "": return .notice
    case "*": return action(day, time, text)
    default: return .message(day: day, time, nick: nick(prefix), text: String(text))
    }
  }

  /// `<@nick> text`, `* nick text`, or a notice: `-!- …`, `*** …`, `-nick- …`
  private static func message(_ day: Day?, _ time: Time, _ rest: Substring) -> IRCLine {
    let rest = rest.drop { $0 == " " }
    if rest.hasPrefix("<"), let end = rest.firstIndex(of: ">") {
      let text = rest[rest.index(after: end)...]
      let name = nick(rest[rest.index(after: rest.startIndex)..<end])
      return name.isEmpty
        ? .unknown
        : .message(
          day: day, time, nick: name, text: String(text.hasPrefix(" ") ? text.dropFirst() : text))
    }
    if rest.hasPrefix("* ") { return action(day, time, rest.dropFirst(2)) }
    return rest.hasPrefix("-") || rest.hasPrefix("***") ? .notice : .unknown
  }

  private static func action(_ day: Day?, _ time: Time, _ rest: Substring) -> IRCLine {
    let name = nick(rest.prefix { $0 != " " })
    let text = rest.drop { $0 != " " }.dropFirst()
    return name.isEmpty ? .unknown : .message(day: day, time, nick: name, text: "* \(text)")
  }

  /// Returns a nick without the sign of a role in the channel.
  private static func nick(_ text: Substring) -> String {
    String(text.drop { "@+%&~! ".contains($0) })
  }
}

extension IRCLine.Day {
  /// `2005-01-31`, or `20050131`.
  init?(_ text: some StringProtocol) {
    let digits = String(text.filter { $0 != "-" })
    guard digits.utf8.count == 8, digits.utf8.allSatisfy({ (48...57).contains($0) }),
      text.utf8.count == 8 || text.utf8.count == 10, let number = Int(digits)
    else { return nil }
    self.init(year: number / 10_000, month: number / 100 % 100, day: number % 100)
  }
}

extension IRCLine.Time {
  /// `12:34` or `12:34:56`.
  init?(_ text: Substring) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { $0.utf8.count == 2 ? Int($0) : nil }
    guard numbers.count == parts.count, (2...3).contains(numbers.count), numbers[0] < 24,
      numbers[1] < 60, numbers.count == 2 || numbers[2] < 61
    else { return nil }
    self.init(hour: numbers[0], minute: numbers[1], second: numbers.count == 3 ? numbers[2] : 0)
  }
}
