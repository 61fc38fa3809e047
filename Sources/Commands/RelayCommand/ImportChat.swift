import ArgumentParser
import Glibc
internal import Imports
import Platform
import Relay
import Server

/// The options of `import` for the export of another chat.
struct ChatImportOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Read the export of another chat: slack, mattermost or irc.", valueName: "chat"))
  var from: String?

  @Argument(
    help: "With --from: the export, a ZIP archive, a folder or a file.", completion: .file())
  var file: String?

  @Option(
    help: ArgumentHelp(
      "A table: on each line a name there, and the user here.", valueName: "file"),
    completion: .file())
  var people: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Only these rooms, by their names there; NAME=ROOM gives one another name.",
      valueName: "name"))
  var rooms: [String] = []

  @Option(
    help: ArgumentHelp(
      "The zone of the times in logs of IRC (default: the machine's).", valueName: "zone"))
  var timeZone: String?

  @Option(
    help: ArgumentHelp(
      "The first day of a log of IRC that does not say it: 2005-01-31.", valueName: "day"))
  var date: String?

  @Flag(help: "Print what would be imported, and import nothing.")
  var dryRun = false

  func validate() throws {
    let isOther =
      people == nil && rooms.isEmpty && timeZone == nil && date == nil && !dryRun && file == nil
    guard let from else {
      if isOther { return }
      throw ValidationError("The other options need --from, with the chat that the export is of.")
    }
    guard ChatImport.Origin(rawValue: from) != nil else {
      let names = ChatImport.Origin.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("--from \(from) is none of \(names).")
    }
    guard file != nil else { throw ValidationError("--from needs the file of the export.") }
    guard from == "irc" || (timeZone == nil && date == nil) else {
      throw ValidationError("--time-zone and --date are for --from irc: other exports have both.")
    }
  }

  /// Imports the export if there is one.
  /// - Returns: whether there was one.
  func run(into store: StoreOptions) throws -> Bool {
    guard let file, let origin = from.flatMap(ChatImport.Origin.init) else { return false }
    do {
      var chat = ChatImport()
      if let people { chat.people = try PeopleTable(file: people) }
      chat.selection = try RoomSelection(rooms)
      if let date { try chat.begin(on: date) }
      try useTimeZone()
      try store.use { place in
        try convert(chat, file, origin, into: place)
      }
    } catch let error as UnreadableExport {
      StandardError.write("\(error)\n")
      throw ExitCode.configuration
    }
    return true
  }

  private func convert(
    _ chat: ChatImport, _ file: String, _ origin: ChatImport.Origin, into place: StorePlace
  ) throws {
    var count: StoreCount?
    let report = try chat.convert(file, from: origin, existing: try place.roomNames()) { next in
      if dryRun {
        while try next() != nil {}
      } else {
        count = try place.import(report: { StandardError.write("\($0)\n") }, nextLine: next)
      }
    }
    StandardOutput.write(report.text)
    if let count {
      StandardError.write("\(count)\n")
    } else {
      StandardOutput.write("Nothing was imported: this was a dry run.\n")
    }
  }

  /// Logs of IRC have the times of a zone that they do not name.
  private func useTimeZone() throws {
    guard let timeZone else { return }
    guard !timeZone.isEmpty, !timeZone.hasPrefix("/"), !timeZone.contains(".."),
      unsafe access("/usr/share/zoneinfo/\(timeZone)", R_OK) == 0
    else {
      StandardError.write(
        "There is no time zone \(timeZone); use a name such as Europe/Berlin or UTC.\n")
      throw ExitCode.configuration
    }
    unsafe setenv("TZ", timeZone, 1)
    tzset()
  }
}
