import Testing
import Wire

@testable import Simulation

@Suite struct `The simulation` {
  @Test(arguments: StoreKind.allCases)
  func `a seed keeps every promise`(_ store: StoreKind) {
    // `make test` plays more of them; this one is for the sanitizers.
    let verdict = Simulation.Verdict.of(seed: 1, store: store)
    #expect(verdict.faults.isEmpty, "\(verdict.faults.prefix(3))")
  }

  @Test(arguments: StoreKind.allCases)
  func `a seed replays to the byte, in another process as well`(_ store: StoreKind) throws {
    let command = "--store \(store.rawValue) --seed 2 --trace"
    let first = try SimulateProcess.output(command)
    #expect(first.contains("digest"))
    #expect(first.contains(store == .cluster ? "batch 2 of" : "durable"))
    #expect(try SimulateProcess.output(command) == first)
  }

  @Test func `a fault that never occurred is named, once there were enough runs`() {
    var outcome = Campaign.Outcome(store: .sqlite)
    #expect(outcome.missing.isEmpty)
    outcome.runs = Campaign.runsThatHaveAll
    outcome.tally.count(.writeTorn)
    #expect(outcome.missing.contains(.syncFailed))
    #expect(!outcome.missing.contains(.writeTorn))
    outcome.store = .memory
    #expect(!outcome.missing.contains(.syncFailed))
  }

  @Test func `the ledger determines the answer to a join`() {
    var ledger = Ledger()
    ledger.begin(epoch: "one")
    for seq in 1...10 { #expect(ledger.append(entry(seq), now: 0) == nil) }
    ledger.begin(epoch: "two")
    for seq in 11...20 { #expect(ledger.append(entry(seq), now: 0) == nil) }
    func told(
      _ after: Int64?, _ epoch: String?, lineage: String? = nil, first: Int64 = 1
    ) -> [Ledger.Expectation] {
      ledger.expectations(
        "a",
        .init(after: after, epoch: epoch, lineage: lineage.map { [EpochStart](query: $0) ?? [] }),
        current: "two", first: first, head: 20)
    }
    #expect(told(7, "one") == [.init(after: 7, resume: .ok)])
    #expect(told(12, "one") == [.init(after: 10, resume: .diverged)])
    #expect(told(12, "two") == [.init(after: 12, resume: .ok)])
    #expect(told(25, nil) == [.init(after: 20, resume: .diverged)])
    #expect(told(3, "two", first: 9) == [.init(after: 8, resume: .truncated)])
    #expect(told(3, "another") == [.init(after: 0, resume: .reset)])
    #expect(told(nil, nil) == [.init(after: 20, resume: .ok)])
    #expect(told(15, nil, lineage: "lost:9,one:0") == [.init(after: 9, resume: .diverged)])
    #expect(told(15, nil, lineage: "lost:12,one:0") == [.init(after: 10, resume: .diverged)])
    #expect(told(15, nil, lineage: "lost:12") == [.init(after: 0, resume: .reset)])
    #expect(
      ledger.lineage(of: "a", current: "two", first: 3, head: 20).query == "two:10,one:2")
    #expect(ledger.append(entry(22), now: 0) != nil)
  }

  private func entry(_ seq: Int) -> Entry {
    Entry(
      room: "a", seq: Int64(seq), id: "i\(seq)", from: "ada", at: 1, kind: .text, body: [])
  }
}
