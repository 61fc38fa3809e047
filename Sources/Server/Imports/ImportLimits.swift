/// What an export may cost: an archive comes from another service, and perhaps through other hands.
enum ImportLimits {
  /// Files of an archive or a folder.
  static let files = 2_000_000
  /// The list of files at the end of an archive.
  static let zipDirectoryBytes = 256 << 20
  /// How many times as large as the archive its files may be in all; chats compress to a tenth.
  static let zipExpansion = 200
  /// A small archive may be all zeros.
  static let zipExpansionFloorBytes = 1 << 20
  /// A file that is read as a whole: a list, or a day of a channel.
  static let jsonBytes = 256 << 20
  /// A line of JSON: a post with all its replies.
  static let jsonLineBytes = 64 << 20
  /// A line of a log of IRC.
  static let logLineBytes = 64 << 10
  /// Folders in folders.
  static let folderDepth = 8
  static let people = 1_000_000
  static let rooms = 100_000
  /// Messages that are sorted, at 32 bytes of memory each.
  static let sortedMessages = 50_000_000
  /// The table of people.
  static let tableBytes = 16 << 20
  /// How far the clock of the other service may be ahead.
  static let clockMilliseconds: Int64 = 86_400_000
  /// Names and reasons of one kind that the report lists.
  static let reportLines = 1000
}
