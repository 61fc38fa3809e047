import ArgumentParser
import Glibc
import Platform
import Swarm

/// The subcommand `bench`.
struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure the relay, a floor and other servers, and print one table.",
    discussion: """
      `make bench` builds the required programs and runs it. Rows: \
      \(Bench.rowNames.joined(separator: ", ")).

      Exit codes: 0 measured, even if goals are missed; 1 a ratio is below the baseline; 2 wrong \
      usage; 3 a delivery is missing, or a row has another fault; 5 a required program is \
      missing.
      """)

  @Option(
    help: ArgumentHelp(
      "Only these rows, by name or by the prefix before a dash, separated by commas.",
      valueName: "row,row"))
  var rows: String?

  @Flag(help: "Take a tenth of the time: checks that everything works, not how fast.")
  var quick = false

  @Flag(help: "Also measure the rows that take long.")
  var full = false

  @Flag(help: "Do not measure the other servers.")
  var noPeers = false

  @Option(
    help: ArgumentHelp("Write the results to this file, as JSON.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var json: String?

  @Option(
    help: ArgumentHelp("Write the results to this file, as a page with plots.", valueName: "file"),
    completion: .file(extensions: ["html"]))
  var html: String?

  @Option(
    help: ArgumentHelp(
      "The JSON of an earlier run; a ratio to the floor that is more than 15 % below it fails.",
      valueName: "file"), completion: .file(extensions: ["json"]))
  var baseline: String?

  @Option(
    help: ArgumentHelp(
      "The folder of the floor; the servers keep their data there.", valueName: "folder"),
    completion: .directory)
  var built = ".build/bench"

  @Option(
    help: ArgumentHelp("The folder of the other servers' configurations.", valueName: "folder"),
    completion: .directory)
  var peers = "LoadTests/peers"

  @Option(
    help: ArgumentHelp(
      "A checkout of uWebSockets with its uSockets: its server is compiled with it, and measured in turn with the relay.",
      valueName: "folder"), completion: .directory)
  var uwebsockets: String?

  @Option(
    help: ArgumentHelp(
      "A fact about the machine, for the report, such as \"Swift=6.3\".", valueName: "name=text"))
  var fact: [String] = []

  func run() throws {
    let before: BenchJudgement.Baseline?
    do {
      before = try baseline.map { try .init(try TextFile.read($0), file: $0) }
      if html != nil { try ReportProgram.checkPlots() }
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode(2)
    }
    let settings = try settings()
    let bench: Bench
    let report: BenchReport
    do throws(Bench.Failure) {
      bench = try Bench(settings) { StandardError.write("\($0)\n") }
      report = try bench.run()
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode(error.isUsage ? 2 : 5)
    }
    StandardOutput.write(BenchTable.text(of: report))
    do {
      let text = BenchJSON.text(of: report)
      if let json { try TextFile.write(text, to: json) }
      if let html { try ReportProgram.writePage(of: text, to: html) }
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode(2)
    }
    let judgement = before.map {
      BenchJudgement(report, against: $0, selected: bench.chosenRows)
    }
    if let judgement { StandardOutput.write("\n\(judgement.text)") }
    if report.rows.contains(where: { $0.fault != nil }) { throw ExitCode(3) }
    if let judgement, !judgement.isGood { throw ExitCode(1) }
  }

  private func settings() throws -> Bench.Settings {
    guard !(quick && full) else { throw ValidationError("--quick and --full cannot be combined") }
    guard !(noPeers && uwebsockets != nil) else {
      throw ValidationError("--no-peers and --uwebsockets cannot be combined")
    }
    var settings = Bench.Settings(
      commands: try Self.ownFolder(), built: try Self.absolute(built),
      peers: try Self.absolute(peers))
    settings.extent = quick ? .quick : full ? .full : .usual
    settings.rows = rows?.split(separator: ",").map(String.init)
    settings.withPeers = !noPeers
    settings.uWebSockets = try uwebsockets.map { path in
      guard let found = Self.resolved(path) else {
        throw ValidationError(
          "there is no folder \(path): --uwebsockets names a checkout of uWebSockets")
      }
      return found
    }
    settings.facts = fact.map {
      let parts = $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return .init(String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
    return settings
  }

  /// Returns this program's folder, which also contains the relay.
  private static func ownFolder() throws -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
    return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  /// Returns an absolute path, because servers run in other working directories.
  private static func absolute(_ path: String) throws -> String {
    guard let resolved = resolved(path) else {
      throw ValidationError(
        "there is no folder \(path): run `make bench` in the folder that contains it")
    }
    return resolved
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}
