import ArgumentParser
import Platform
import Swarm

/// The subcommand `run`: plays a scenario.
struct RunScenario: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Play a scenario, and report the result.",
    discussion: """
      Exit codes: 0 good; 1 a threshold was missed; 2 wrong usage, or an error in the scenario; 3 \
      the relay broke a promise (lost, doubled, reordered, gap, two orders, altered, …); 4 the run \
      is void: swarm itself was the bottleneck; 5 no connection. When several apply, 3 wins over 4 \
      over 1.
      """)

  @Argument(
    help: ArgumentHelp("The scenario, a YAML file.", valueName: "scenario.yaml"),
    completion: .file(extensions: ["yaml"]))
  var scenario: String

  @Option(
    help: ArgumentHelp(
      "A running relay, instead of the scenario's own.", valueName: "ws://host:port/ws"))
  var url: String?

  @Option(help: ArgumentHelp("Replaces the scenario's seed: another seed, another plan."))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp("Write the results to this file, as JSON.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var json: String?

  @Option(
    help: ArgumentHelp("Write the results to this file, as a page with plots.", valueName: "file"),
    completion: .file(extensions: ["html"]))
  var html: String?

  @Flag(help: "Print nothing before the end.")
  var quiet = false

  @Flag(
    help: """
      Run without the oracle, as set by the scenario's raw: frames are counted and timed, at a cost \
      so low that swarm is not the bottleneck.
      """)
  var raw = false

  func validate() throws {
    if raw, html != nil {
      throw ValidationError("--raw writes no HTML page: use --json, or omit --raw.")
    }
  }

  func run() throws {
    let scenario: Scenario
    do {
      scenario = try Scenario(yaml: try TextFile.read(self.scenario), file: self.scenario)
      for file in [json, html].compactMap(\.self) { try TextFile.checkWritable(file) }
      if html != nil { try ReportProgram.checkPlots() }
    } catch let error as SystemError {
      StandardError.write("\(error); use another file\n")
      throw ExitCode(2)
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode(2)
    }
    if raw { return try runRaw(scenario) }
    let plan = Plan(scenario, seed: seed)
    let outcome = try played {
      let progress = Progress(quiet: quiet)
      defer { progress.finish() }
      if scenario.mode == .echo {
        let run = try EchoRun(scenario, plan, url: url, log: progress.log)
        run.display = progress.display
        return try run.play()
      }
      let run = try Run(scenario, plan, url: url, log: progress.log)
      run.display = progress.display
      return try run.play()
    }
    // Files are written first: the reader of standard output may be gone.
    var faults: [any Error] = []
    let report = JSONReport.text(of: outcome)
    if let json { do { try TextFile.write(report, to: json) } catch { faults.append(error) } }
    if let html {
      do { try ReportProgram.writePage(of: report, to: html) } catch { faults.append(error) }
    }
    StandardOutput.write(TextReport.text(of: outcome))
    for fault in faults {
      StandardError.write("\(fault); the results were not written to that file\n")
    }
    if !faults.isEmpty, outcome.status == .good { throw ExitCode(2) }
    // The exit code with which a shell reports a signal.
    if let signal = outcome.interruptingSignal { throw ExitCode(128 + signal) }
    if outcome.status != .good { throw ExitCode(outcome.status.rawValue) }
  }

  private func runRaw(_ scenario: Scenario) throws {
    let played: RawScenario
    do throws(RawLoad.Failure) {
      played = try RawScenario(playing: scenario, file: self.scenario, seed: seed, url: url)
    } catch {
      StandardError.write("\(error)\n")
      if let signal = error.signal { throw ExitCode(128 + signal) }
      throw ExitCode(error.isUsage ? 2 : Outcome.Status.noConnection.rawValue)
    }
    StandardOutput.write(RawReport.text(of: played))
    if let json {
      do {
        try TextFile.write(RawReport.json(of: played), to: json)
      } catch {
        StandardError.write("\(error)\n")
        if played.status == .good { throw ExitCode(2) }
      }
    }
    if played.status != .good { throw ExitCode(played.status.rawValue) }
  }
}
