import ArgumentParser
internal import Backups
import Glibc
import Platform
import Relay
import SQLiteLog
import Server

/// The subcommand `restore`: makes a data folder of a backup.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Make a data folder of what relay backup has stored.",
    discussion: """
      Checks every object, and the store as relay verify does, before the files are put in their place. Exits with 3 \
      if something is damaged or missing, and names it.
      """)

  @Option(
    help: ArgumentHelp("Where the backup is: a folder, or s3://bucket/prefix.", valueName: "place"))
  var from: StoragePlace

  @OptionGroup var storage: StorageOptions

  @Option(
    help: ArgumentHelp("The new data folder, which has to be empty.", valueName: "dir"),
    completion: .directory)
  var data: String?

  @Option(
    help: ArgumentHelp(
      "The last point that is not later, such as 2026-11-27T22:30:00Z, or the number of a point.",
      valueName: "time"))
  var at: PointSelection?

  @Flag(help: "Print the points that can be restored: number and time.")
  var list = false

  func validate() throws {
    guard list != (data != nil) else {
      throw ValidationError("Give either --data, the folder to restore into, or --list.")
    }
  }

  func run() throws {
    try StoreOptions.explaining {
      try Backup.explaining {
        let restore = try Restore(from: try from.open(storage))
        guard let data else {
          for point in restore.points {
            StandardOutput.write("\(point.number)\t\(point.timeText)\n")
          }
          return
        }
        var summary = ""
        let outcome = try restore.run(at?.selection ?? .last, into: data) { folder in
          let verification = try StorePlace.sqlite(folder: folder).verifyDatabases()
          for place in verification.breaks { StandardError.write("\(place)\n") }
          guard verification.breakCount == 0 else {
            throw StoreError(
              .broken,
              "The backup holds a damaged store; nothing was restored. Restore an earlier point (--at)."
            )
          }
          summary = "\(verification.count)"
        }
        StandardOutput.write(
          "Point \(outcome.point.number) of \(outcome.point.timeText) is restored: \(summary)\n"
        )
        guard !outcome.lostFiles.isEmpty else { return }
        for hash in outcome.lostFiles.prefix(StoreVerification.breakLimit) {
          StandardError.write("\(restore.place)/files/\(hash) is missing or damaged\n")
        }
        StandardError.write(
          "The backup lacks the bytes of \(outcome.lostFiles.count.counted("file or thumbnail", "files and thumbnails")), "
            + "or has them damaged. relay verify --data \(data) says which; everything else is restored.\n"
        )
        throw ExitCode.brokenData
      }
    }
  }
}

/// A point to restore: a time, or a number.
struct PointSelection: ExpressibleByArgument {
  var selection: Restore.Selection

  init?(argument: String) {
    if let number = Int(argument), number > 0 {
      selection = .number(number)
      return
    }
    // The log has its times in the zone of the machine, with milliseconds: 2026-11-27T23:30:00.123+01:00.
    let clock = argument.prefix(19)
    var zone = argument.dropFirst(19)
    if zone.first == "." { zone = zone.dropFirst().drop { $0.isASCII && $0.isNumber } }
    let fields = clock.split { "-T:".contains($0) }.compactMap { Int32($0) }
    guard fields.count == 6, let offset = Self.offsetSeconds(zone) else { return nil }
    var parts = unsafe tm()
    unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (
      fields[0] - 1900, fields[1] - 1, fields[2]
    )
    unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) = (fields[3], fields[4], fields[5])
    let milliseconds = Int64(unsafe timegm(&parts)) * 1000
    guard Restore.Point.text(milliseconds) == clock + "Z" else { return nil }
    // Points of that second count.
    selection = .time(milliseconds - offset * 1000 + 999)
  }

  /// Reads `Z`, `+01:00` or `-01:00`.
  private static func offsetSeconds(_ zone: Substring) -> Int64? {
    if zone == "Z" { return 0 }
    let parts = zone.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
    guard let sign = zone.first, "+-".contains(sign), parts.count == 2,
      parts.allSatisfy({ $0.count == 2 && $0.allSatisfy { $0.isASCII && $0.isNumber } }),
      let hours = Int64(parts[0]), let minutes = Int64(parts[1]), hours < 24, minutes < 60
    else { return nil }
    return (sign == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
}
