import Platform

/// The import of another chat's export: its lines are those of an export of the relay.
public struct ChatImport {
  /// Where exports come from.
  public enum Origin: String, CaseIterable, Sendable {
    case slack, mattermost, irc
  }

  public var people = PeopleTable()
  public var selection = RoomSelection()
  private var firstDay: IRCLine.Day?

  public init() {}

  /// Sets the day of the first lines of logs of IRC that do not say it.
  public mutating func begin(on day: String) throws(UnreadableExport) {
    guard let day = IRCLine.Day(day) else {
      throw UnreadableExport("--date", "is no day; write it as 2005-01-31")
    }
    firstDay = day
  }

  /// Converts an export.
  /// - Parameters:
  ///   - existing: the rooms of the store, which are left out.
  ///   - take: takes the lines by calling its argument until that returns `nil`.
  /// - Returns: what was converted.
  /// - Throws: `UnreadableExport`, or the error of `take`.
  public func convert(
    _ path: String, from origin: Origin, existing: Set<String>,
    take: (() throws -> [UInt8]?) throws -> Void
  ) throws -> ImportReport {
    let files = try ExportFiles(path)
    switch origin {
    case .slack: return try run(try SlackExport(files), existing, take)
    case .mattermost: return try run(try MattermostExport(files), existing, take)
    case .irc:
      return try run(IRCLogs(files, named: selection, firstDay: firstDay), existing, take)
    }
  }

  private func run(
    _ source: some ForeignExport, _ existing: Set<String>,
    _ take: (() throws -> [UInt8]?) throws -> Void
  ) throws -> ImportReport {
    var conversion = try Conversion(
      source, people: people, selection: selection, existing: existing, now: WallClock.milliseconds)
    try take { try conversion.nextLine() }
    return conversion.report
  }
}
