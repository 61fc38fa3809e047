import ArgumentParser
import Glibc
import Platform
internal import Wire

/// The subcommand `top`: shows what a running relay does, again and again.
struct Top: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show what the running relay does, every second.",
    discussion: """
      Reads the relay's metrics by the socket operator.sock in its data folder; or by --url with the \
      token in admin.token or that of a user in auth.operators, or with the one in metrics.token, which \
      does not show users and rooms. Where standard output is a terminal, \
      it shows a screen until q or Ctrl+C; else it prints lines.
      """)

  @Flag(help: "Print a line of JSON for each interval.")
  var json = false

  @Option(help: ArgumentHelp("Seconds between two looks, 1 to 3600.", valueName: "n"))
  var interval = 1

  @OptionGroup var relay: RelayQuery

  func validate() throws {
    guard (1...3600).contains(interval) else {
      throw ValidationError("--interval must be 1 to 3600.")
    }
  }

  func run() throws {
    let target = try relay.target()
    // Before the screen: its error stays there.
    var last: MetricsSample
    do { last = try Self.sample(target) } catch {
      StandardError.write("\(error)\n")
      throw ExitCode.configuration
    }
    if !json, isatty(STDOUT_FILENO) == 1, isatty(STDIN_FILENO) == 1 {
      do { return try runScreen(target, last) } catch let error as SystemError {
        StandardError.write("\(error)\n")
        throw ExitCode.environment
      }
    }
    while true {
      sleep(UInt32(interval))
      do {
        let sample = try Self.sample(target)
        printFigures(TopFigures(sample, since: last))
        last = sample
      } catch {
        StandardError.write("\(error)\n")
        throw ExitCode.configuration
      }
      if StandardOutput.failure != nil { return }
    }
  }

  private func printFigures(_ figures: TopFigures) {
    let now = WallClock.milliseconds
    if json { return StandardOutput.write(figures.json(at: now) + [UInt8(ascii: "\n")]) }
    let table = TopTable(figures: figures, uptime: figures.uptime(now / 1000))
    for (heading, text) in table.lines { StandardOutput.write("\(heading)\t\(text)\n") }
    StandardOutput.write("\n")
  }

  /// A screen outlives a relay that is restarted.
  private func runScreen(_ target: RelayQuery.Target, _ first: MetricsSample) throws {
    var screen = try TopScreen()
    var last = first
    var lines: [(heading: String, text: String)] = [("", "One moment: this takes two looks.")]
    repeat {
      try screen.show("relay top: \(target.name)", lines)
      guard try screen.wait(until: .now().adding(milliseconds: 1000 * interval)) else { return }
      do {
        let sample = try Self.sample(target)
        let figures = TopFigures(sample, since: last)
        lines =
          TopTable(figures: figures, uptime: figures.uptime(WallClock.milliseconds / 1000)).lines
        last = sample
      } catch {
        lines = [("problems", error.description)]
      }
    } while true
  }

  private static func sample(
    _ target: RelayQuery.Target
  ) throws(OperatorRequest.Failure) -> MetricsSample {
    let answer = try target.get("/metrics")
    let census = try target.get("/v1/connections")
    guard answer.status == 200 else {
      throw OperatorRequest.Failure(
        description: JSONNode(answer.body)?["detail"]?.string
          ?? "\(target.name) answers with status \(answer.status).")
    }
    return MetricsSample(
      String(decoding: answer.body, as: UTF8.self), census: census.status == 200 ? census.body : [],
      at: .now())
  }
}
