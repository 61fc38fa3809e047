import ArgumentParser
import CommandMain
import Glibc
import Simulation

/// Simulates the relay from seeds, and checks its promises.
@main
struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Play clients, wire, relay, log and disk on one clock, with faults, from seeds.",
    discussion: """
      A run that breaks a promise is printed with its seed; --seed N --trace repeats it step by step. \
      The exit code is 0 if every promise was kept and every fault occurred, 1 otherwise, 2 on wrong \
      usage.
      """)

  @Option(help: "Start no further run after this many seconds.")
  var seconds: Int?

  @Option(help: "The number of seeds per store; 1000 if --seconds is not given either.")
  var seeds: UInt64?

  @Option(help: "With --seconds: continue until at least this many seeds were played.")
  var atLeast: UInt64 = 0

  @Option(help: "The first seed.")
  var first: UInt64 = 1

  @Option(help: "sqlite, memory, cluster, or all (the same time each).")
  var store = "sqlite"

  @Option(help: "Play only this seed.")
  var seed: UInt64?

  @Flag(help: "With --seed: print every step.")
  var trace = false

  @Option(
    help:
      "Check only these bounds, separated by commas: waits, lookups, rooms, folding, entries, replies."
  )
  var bounds: String?

  @Option(
    help:
      "Use only these adversaries: babble, edits, reactions, rooms, people, floods, duplicates; or none."
  )
  var attacks: String?

  @Option(help: "The number of concurrent runs; by default the number of processors.")
  var jobs: Int?

  @Flag(help: "Stop at the first failure.")
  var untilFailure = false

  private var stores: [StoreKind] {
    store == "all" ? StoreKind.allCases : StoreKind(rawValue: store).map { [$0] } ?? []
  }

  private var heldBounds: Set<HeldBound>? { Self.cases(of: bounds) }
  private var heldAttacks: Set<Attack>? { Self.cases(of: attacks) }

  /// Returns all cases if no list is given; `nil` if a name is unknown.
  private static func cases<Case: RawRepresentable<String> & CaseIterable & Hashable>(
    of list: String?
  ) -> Set<Case>? {
    guard let list else { return Set(Case.allCases) }
    if list == "none" { return [] }
    let named = list.split(separator: ",").map { Case(rawValue: String($0)) }
    return named.contains { $0 == nil } ? nil : Set(named.compactMap(\.self))
  }

  static func main() { runAsMain() }

  func validate() throws {
    if stores.isEmpty {
      throw ValidationError("--store must be sqlite, memory, cluster or all, not \(store).")
    }
    if seed != nil, stores.count != 1 {
      throw ValidationError("--seed requires a single store.")
    }
    if trace, seed == nil { throw ValidationError("--trace requires --seed.") }
    if heldAttacks == nil { throw ValidationError("--attacks contains an unknown attack.") }
    if heldBounds == nil { throw ValidationError("--bounds contains an unknown bound.") }
    if let jobs, jobs < 1 { throw ValidationError("--jobs must be at least 1.") }
  }

  func run() throws {
    Determinism.enforce()
    Simulation.reportTraps()
    if let seed {
      try play(seed)
    } else {
      try playMany()
    }
  }

  private func play(_ seed: UInt64) throws {
    let verdict = Simulation.Verdict.of(
      seed: seed, store: stores[0], bounds: heldBounds ?? [], attacks: heldAttacks ?? [],
      trace: trace ? { print($0) } : nil)
    for fault in verdict.faults { print("seed \(seed): \(fault)") }
    print("seed \(seed): digest \(verdict.digest)")
    if !verdict.faults.isEmpty { throw ExitCode(1) }
  }

  private func playMany() throws {
    // After a signal the results so far are still reported.
    for number in [SIGINT, SIGTERM] { signal(number) { _ in Campaign.interrupt() } }
    var isGood = true
    for store in stores {
      var campaign = Campaign(
        store: store, firstSeed: first, seeds: seeds ?? (seconds == nil ? 1000 : nil),
        seconds: seconds.map { $0 / stores.count },
        jobs: jobs ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
      campaign.seedsAtLeast = atLeast
      campaign.bounds = heldBounds ?? []
      campaign.attacks = heldAttacks ?? []
      campaign.endsWithFailure = untilFailure
      let outcome = try campaign.run { failure in
        print("seed \(failure.seed), \(store.rawValue): \(failure.faults[0])")
        print(
          "  repeat step by step: simulate --store \(store.rawValue) --seed \(failure.seed) --trace"
        )
        fflush(nil)
      }
      print("")
      print(Report.text(of: outcome))
      isGood = isGood && outcome.failures.isEmpty && outcome.missing.isEmpty
    }
    if !isGood { throw ExitCode(1) }
  }
}

/// The report of a campaign for a person.
enum Report {
  static func text(of outcome: Campaign.Outcome) -> String {
    var lines = [
      "\(outcome.runs) seeds with the \(outcome.store.rawValue) log, "
        + "\(outcome.failures.count) of them broke a promise"
    ]
    for event in Tally.Event.allCases where outcome.tally[event] > 0 {
      lines.append("  \(padded(outcome.tally[event]))  \(event.rawValue)")
    }
    for event in outcome.missing { lines.append("  NEVER       \(event.rawValue)") }
    return lines.joined(separator: "\n")
  }

  private static func padded(_ number: Int) -> String {
    let digits = "\(number)"
    return String(repeating: " ", count: max(0, 10 - digits.count)) + digits
  }
}

/// Makes Swift's hashes deterministic: the same seed must give the same run in every process.
enum Determinism {
  private static let variable = "SWIFT_DETERMINISTIC_HASHING"

  /// Restarts this program with deterministic hashes, if they are not.
  static func enforce() {
    guard unsafe getenv(variable) == nil else { return }
    unsafe setenv(variable, "1", 1)
    var arguments = unsafe CommandLine.arguments.map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    unsafe execv("/proc/self/exe", arguments)
    // If the restart fails, the program continues; only a replay may differ.
  }
}
