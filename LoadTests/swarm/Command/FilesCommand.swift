import ArgumentParser
import Platform
import Swarm

/// The subcommand `files`: uploads and downloads files while the relay and the clients are killed.
struct FilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "files",
    abstract:
      "Upload and download files while the relay and the clients are killed, and check them.",
    discussion: """
      Starts a relay and clients as processes of their own, and kills them with SIGKILL, spread over \
      the uploads. Each acknowledged file must be served with its bytes, the relay's folder must have \
      the bytes that entries name and no others, and no upload may begin again. The folders are removed \
      afterwards; they need as much space as the files.

      Exit codes: 0 good; 2 wrong usage; 3 the relay broke a promise; 5 the relay did not start.
      """)

  @OptionGroup var files: FilePlanOptions

  @Option(help: "How many times the relay is killed.")
  var relayKills = 30

  @Option(help: "How many times a client is killed.")
  var clientKills = 30

  @Option(
    help: ArgumentHelp("The relay; by default the one beside swarm.", valueName: "path"),
    completion: .file())
  var relay: String?

  @Flag(help: "Print nothing before the end.")
  var quiet = false

  func validate() throws {
    guard relayKills >= 0, clientKills >= 0 else {
      throw ValidationError("--relay-kills and --client-kills must not be negative.")
    }
  }

  func run() throws {
    var settings = files.settings
    (settings.relayKills, settings.clientKills) = (relayKills, clientKills)
    let report = try played {
      let progress = Progress(quiet: quiet)
      defer { progress.finish() }
      return try FileRun(FilePlan(settings), relay: relay, log: progress.log).play()
    }
    StandardOutput.write(report.text)
    if !report.violations.isEmpty { throw ExitCode(Outcome.Status.promiseBroken.rawValue) }
  }
}

/// The subcommand `file-client`: one client of `files`, which starts it.
struct FileClientCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "file-client", abstract: "One client of `swarm files`, which starts it.",
    shouldDisplay: false)

  @OptionGroup var files: FilePlanOptions
  @Argument var client: Int
  @Argument var url: String
  @Argument var folder: String

  func run() throws {
    do {
      try FilePersona(client, of: FilePlan(files.settings), url: url, folder: folder).run()
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode.failure
    }
  }
}

/// What decides which files are uploaded.
struct FilePlanOptions: ParsableArguments {
  @Option(help: "Another seed, other files.")
  var seed: UInt64 = 1

  @Option(help: "The number of uploads.")
  var uploads = 1000

  @Option(help: "The number of clients, each a process.")
  var clients = 10

  @Option(help: ArgumentHelp("The size of the largest file.", valueName: "bytes"))
  var largestBytes = FilePlan.largestBytes

  func validate() throws {
    guard uploads > 0, clients > 0 else {
      throw ValidationError("--uploads and --clients must be at least 1.")
    }
    guard FilePlan.smallestBytes...FilePlan.largestBytes ~= largestBytes else {
      throw ValidationError(
        "--largest-bytes must be \(FilePlan.smallestBytes) to \(FilePlan.largestBytes).")
    }
  }

  var settings: FilePlan.Settings {
    var settings = FilePlan.Settings()
    (settings.seed, settings.uploads) = (seed, uploads)
    (settings.clients, settings.largestBytes) = (clients, largestBytes)
    return settings
  }
}
