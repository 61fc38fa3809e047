import Testing

@testable import Messenger

/// A clock that is an hour before UTC until the end of March 2026, and two hours from then on.
@Sendable private func localTime(_ milliseconds: Int64) -> LocalTime {
  let summer: Int64 = 1_774_746_000_000
  let local = milliseconds + (milliseconds < summer ? 3_600_000 : 7_200_000)
  let minutes = Int((Double(local) / 60_000).rounded(.down))
  let days = Int((Double(minutes) / 1440).rounded(.down))
  // https://howardhinnant.github.io/date_algorithms.html#civil_from_days
  let shifted = days + 719_468
  let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
  let day = shifted - era * 146_097
  let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
  let dayOfYear = day - (365 * year + year / 4 - year / 100)
  let month = (5 * dayOfYear + 2) / 153
  let inMonth = month < 10 ? month + 3 : month - 9
  return LocalTime(
    year: year + era * 400 + (inMonth <= 2 ? 1 : 0), month: inMonth,
    day: dayOfYear - (153 * month + 2) / 5 + 1, hour: (minutes - days * 1440) / 60,
    minute: (minutes - days * 1440) % 60, weekday: ((days + 4) % 7 + 7) % 7)
}

@Suite struct `A date that is written` {
  /// Tuesday, 24 November 2026, 15:30.
  private let dates = DateText(now: 1_795_527_000_000, localTime: localTime)

  private func told(_ text: String) -> String? {
    dates.read(text).map { time in
      let local = localTime(time)
      func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
      return
        "\(local.year)-\(two(local.month))-\(two(local.day)) \(two(local.hour)):\(two(local.minute))"
    }
  }

  @Test(arguments: [
    ("2026-11-20", "2026-11-20 00:00"), ("2026-11-20 14:02", "2026-11-20 14:02"),
    ("2026-11-20T14:02", "2026-11-20 14:02"), ("20.11.2026", "2026-11-20 00:00"),
    ("20.11.", "2026-11-20 00:00"), ("11-20", "2026-11-20 00:00"), ("12-20", "2025-12-20 00:00"),
    ("today", "2026-11-24 00:00"), ("Yesterday", "2026-11-23 00:00"),
    ("yesterday 9:05", "2026-11-23 09:05"), ("14:02", "2026-11-24 14:02"),
    ("16:00", "2026-11-23 16:00"), ("2:02 pm", "2026-11-24 14:02"), ("2pm", "2026-11-24 14:00"),
    ("12am", "2026-11-24 00:00"), ("mon", "2026-11-23 00:00"), ("tuesday", "2026-11-17 00:00"),
    ("wed 8:00", "2026-11-18 08:00"), ("20 nov", "2026-11-20 00:00"),
    ("Nov 20, 2024", "2024-11-20 00:00"), ("24 december", "2025-12-24 00:00"),
    ("29 feb", "2024-02-29 00:00"), ("3 days ago", "2026-11-21 00:00"),
    ("2 weeks ago", "2026-11-10 00:00"), ("an hour ago", "2026-11-24 14:30"),
    ("1 march", "2026-03-01 00:00"), ("2026-03-29 12:00", "2026-03-29 12:00"),
  ])
  func `is understood`(text: String, time: String) {
    #expect(told(text) == time)
  }

  @Test(arguments: [
    "", " ", "tomorrow", "2026-13-01", "2026-02-30", "25:00", "14:60", "14:2", "13pm", "nov",
    "20 nom",
    "1-2-3-4", "99999-01-01", "hello", "m", "-1 days ago", "999999999 days ago", "3 days", "0 nov",
    String(repeating: "1", count: 5000), "2026-11-20 14:02 x", "١٢:٠٠", ":", "--", "..",
  ])
  func `is not guessed`(text: String) {
    #expect(told(text) == nil)
  }
}
