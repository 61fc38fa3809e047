/// A local date and time.
public struct LocalTime: Equatable, Sendable {
  public var year: Int
  /// From 1.
  public var month: Int
  public var day: Int
  public var hour: Int
  public var minute: Int
  public var second: Int
  /// 0 is Sunday.
  public var weekday: Int

  public init(
    year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int = 0, weekday: Int
  ) {
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
    self.weekday = weekday
  }
}
