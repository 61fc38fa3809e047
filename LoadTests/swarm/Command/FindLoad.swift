import ArgumentParser
import Platform
import Swarm

/// The subcommand `find`: finds the largest load that meets a scenario's thresholds.
struct FindLoad: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Find the largest load that meets a scenario's thresholds.",
    discussion: """
      Doubles the scenario's message rates until a run misses a threshold, then bisects the \
      interval. Each try is a whole run, with a fresh relay if the scenario spawns one; a try that \
      fails is repeated once before it counts.

      Exit codes: 0 found; 1 the unchanged scenario misses; 2 wrong usage, or a load cannot be \
      measured (the relay's limits for one client); 3 the relay broke a promise; 4 the scenario \
      is void even unchanged: swarm itself is the bottleneck; 5 no connection.
      """)

  @Argument(
    help: ArgumentHelp(
      "The scenario, a YAML file; it must have thresholds.", valueName: "scenario.yaml"),
    completion: .file(extensions: ["yaml"]))
  var scenario: String

  @Option(
    help: ArgumentHelp(
      "A running relay, instead of the scenario's own.", valueName: "ws://host:port/ws"))
  var url: String?

  @Option(help: ArgumentHelp("Replaces the scenario's seed: another seed, another plan."))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp("Write all tries to this file, as JSON.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var json: String?

  @Option(
    help: ArgumentHelp(
      "The largest factor of the scenario's load (default: 1024).",
      valueName: "factor"))
  var max: Double?

  @Option(
    help: ArgumentHelp(
      "The largest relative error of the answer.", valueName: "part"))
  var precision = 0.05

  @Option(
    help: """
      The length of one run: shortens all phases by the same factor. By default find.seconds of \
      the scenario, or the unchanged scenario.
      """)
  var seconds: Double?

  @Flag(help: "Multiply the number of clients as well.")
  var clients = false

  @Flag(help: "Print nothing before the end.")
  var quiet = false

  func validate() throws {
    guard (0.001...1).contains(precision) else {
      throw ValidationError("--precision is \(precision); expected 0.001 to 1")
    }
    if let max, !(max >= 1 && max <= 1_000_000) {
      throw ValidationError("--max is \(max); expected 1 to 1000000")
    }
    if let seconds, !(seconds > 0 && seconds <= 86_400) {
      throw ValidationError("--seconds is \(seconds); expected more than 0, at most 86400")
    }
  }

  func run() throws {
    var scenario: Scenario
    do {
      scenario = try Scenario(yaml: try TextFile.read(self.scenario), file: self.scenario)
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode(2)
    }
    guard !scenario.thresholds.isEmpty else {
      StandardError.write(
        "\(self.scenario): there are no thresholds, so every load would pass;"
          + " add for example thresholds: { ack_p99_ms: 100 }\n")
      throw ExitCode(2)
    }
    guard scenario.peakMessagesPerSecond > 0 else {
      StandardError.write(
        "\(self.scenario): no phase has messages, so there is no load to multiply;"
          + " add for example messages: { constant: 100 } to a phase\n")
      throw ExitCode(2)
    }
    if let seconds = seconds ?? scenario.find.seconds {
      scenario = scenario.shortened(toSeconds: seconds)
    }
    let finding = try search(scenario)
    StandardOutput.write(finding.text)
    if let json {
      do {
        try TextFile.write(finding.json, to: json)
      } catch {
        StandardError.write("\(error)\n")
        if finding.exitCode == 0 { throw ExitCode(2) }
      }
    }
    if finding.exitCode != 0 { throw ExitCode(finding.exitCode) }
  }

  private func search(_ scenario: Scenario) throws -> LoadFinding {
    let most = try scenario.mostLoad(asked: max, scalingClients: clients)
    var finding = LoadFinding(
      scenario: scenario.name, seed: seed ?? scenario.seed, precision: precision, most: most)
    var search = LoadSearch(to: most.factor, precision: precision)
    var allowance: SendAllowance?
    let progress = Progress(quiet: quiet)
    defer { progress.finish() }
    var step = search.next()
    while case .run(let factor) = step {
      let loaded = scenario.loaded(factor, clients: clients)
      let plan = Plan(loaded, seed: seed)
      if let why = allowance?.obstacle(to: plan) ?? plan.silence {
        finding.end = .obstacle(factor: factor, why)
        return finding
      }
      progress.display?.caption = finding.caption(of: factor)
      let outcome = try play(loaded, plan, on: progress.display)
      if outcome.wasInterrupted {
        finding.end = .interrupted
        return finding
      }
      // The limits are known only from the `welcome` of a relay.
      allowance = allowance ?? outcome.allowance
      if finding.tries.isEmpty, let why = allowance?.obstacle(to: plan) {
        finding.end = .obstacle(factor: factor, why)
        return finding
      }
      let latest = LoadTry(factor: factor, loaded, outcome)
      finding.tries.append(latest)
      if outcome.status == .promiseBroken || outcome.status == .noConnection {
        finding.end = .failed(outcome.status)
        progress.finish()
        StandardOutput.write(TextReport.text(of: outcome))
        return finding
      }
      progress.log(latest.line)
      step = search.next(latest.result)
    }
    return finding
  }

  private func play(_ scenario: Scenario, _ plan: Plan, on display: StatusLine?) throws
    -> Outcome
  {
    try played {
      if scenario.mode == .echo {
        let run = try EchoRun(scenario, plan, url: url) { _ in }
        run.display = display
        return try run.play()
      }
      let run = try Run(scenario, plan, url: url) { _ in }
      run.display = display
      return try run.play()
    } finish: {
      display?.finish()
    }
  }
}
