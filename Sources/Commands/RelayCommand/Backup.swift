import ArgumentParser
internal import Backups
import Platform
import Relay
import SQLiteLog
import Server

/// The subcommand `backup`: copies a data folder, once or continuously.
struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copy the data folder to another folder or to S3, once or continuously.",
    discussion: """
      May run beside the relay or without it. Stores only what has changed since the last backup in the same \
      place, and goes on where an interrupted one has ended. relay restore reads it.
      """)

  @OptionGroup var store: StoreOptions

  @Option(
    help: ArgumentHelp("Where to store it: a folder, or s3://bucket/prefix.", valueName: "place"))
  var to: StoragePlace

  @OptionGroup var storage: StorageOptions

  @Flag(help: "Go on until the process ends, and store what changes.")
  var follow = false

  @Option(
    help: ArgumentHelp(
      "How much to read in a second, such as 50MB (default: no limit).", valueName: "bytes"))
  var rate: ByteCount?

  @Option(help: ArgumentHelp("How long what was stored can be restored.", valueName: "time"))
  var keep = Lifetime(seconds: 7 * 86_400)

  @Option(
    help: ArgumentHelp("After how long everything is stored again.", valueName: "time"))
  var fullEvery = Lifetime(seconds: 86_400)

  @Option(help: ArgumentHelp("With --follow: how long until the next point.", valueName: "time"))
  var interval = Lifetime(seconds: 5)

  func run() throws {
    try store.use { place in
      guard case .sqlite(let folder) = place else {
        throw StoreError(
          .configuration,
          "The log is in PostgreSQL, accounts included: back up that database, with pg_basebackup or "
            + "pgBackRest, and copy the bucket of the files (files.s3) after it. relay export writes the log as JSON."
        )
      }
      try to.checkIsOutside(folder)
      try Store.checkJournal(folder: folder)
      var options = BackupRun.Options()
      options.bytesPerSecond = rate?.bytes
      options.keepSeconds = keep.seconds
      options.fullEverySeconds = fullEvery.seconds
      options.follows = follow
      options.intervalMilliseconds = interval.seconds * 1000
      try Self.explaining {
        let storage = try to.open(storage)
        let backup = try BackupRun(folder: folder, storage: storage, options: options) {
          StandardError.write("\($0)\n")
        }
        try backup.run()
        StandardOutput.write(
          "Point \(backup.number) is stored: \(backup.bytes.counted("byte was", "bytes were")) new.\n"
        )
        if !backup.lostFiles.isEmpty { throw ExitCode.brokenData }
      }
    }
  }

  /// Prints the error of `body`, and exits with the code for it, if it fails.
  static func explaining<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as BackupError {
      StandardError.write("\(error)\n")
      switch error.kind {
      case .refused: throw ExitCode.configuration
      case .unavailable: throw ExitCode.environment
      case .damaged: throw ExitCode.brokenData
      }
    }
  }
}

/// A number of bytes, such as `4096`, `500kB`, `50MB` or `2GB`.
struct ByteCount: ExpressibleByArgument {
  static let limit = 1 << 50

  var bytes: Int

  init?(argument: String) {
    let units = [("kB", 1000), ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("", 1)]
    for (unit, size) in units where argument.hasSuffix(unit) {
      guard let count = Int(argument.dropLast(unit.count)), count > 0, count <= Self.limit / size
      else { return nil }
      bytes = count * size
      return
    }
    return nil
  }
}
