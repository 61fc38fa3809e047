import ArgumentParser
import Glibc
import Simulation

/// Plays the relay from seeds, and holds it to its promises.
@main
struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Play clients, wire, relay, log and disk on one clock, with faults, from seeds.",
    discussion: """
      A run that breaks a promise is printed with its seed, and `--seed N --trace` plays it once more, \
      the same in every step. Ends with 0 if every promise was kept and every fault occurred, 1 \
      otherwise, 2 on wrong usage.
      """)

  @Option(help: "Begin no further run after so many seconds.")
  var seconds: Int?

  @Option(help: "Play so many seeds of each store.")
  var seeds: Int?

  @Option(help: "The first seed.")
  var first: UInt64 = 1

  @Option(help: "sqlite, memory or both.")
  var store = "sqlite"

  @Option(help: "Play this seed alone.")
  var seed: UInt64?

  @Flag(help: "Print everything that happens; with --seed.")
  var trace = false

  @Option(help: "Runs at the same time.")
  var jobs = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  mutating func run() throws {
    let kinds: [StoreKind]
    switch store {
    case "both": kinds = StoreKind.allCases
    default:
      guard let kind = StoreKind(rawValue: store) else {
        throw ValidationError("--store is sqlite, memory or both, not \(store).")
      }
      kinds = [kind]
    }
    if let seed {
      let wantsTrace = trace
      let verdict = Simulation(seed: seed, store: kinds[0], trace: wantsTrace ? { print($0) } : nil)
        .run()
      for fault in verdict.faults { print("seed \(seed): \(fault)") }
      print("digest \(verdict.digest)")
      throw ExitCode(verdict.faults.isEmpty ? 0 : 1)
    }
    var failures = 0
    for kind in kinds {
      var tally = Tally()
      let count = UInt64(seeds ?? 100)
      for seed in first..<first + count {
        let verdict = Simulation(seed: seed, store: kind).run()
        tally += verdict.tally
        if !verdict.faults.isEmpty {
          failures += 1
          print("seed \(seed): \(verdict.faults[0])")
        }
      }
      for event in Tally.Event.allCases { print("\(event.rawValue): \(tally[event])") }
    }
    throw ExitCode(failures == 0 ? 0 : 1)
  }
}
