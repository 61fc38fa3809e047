import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// The rules of retention, of a relay that runs.
  @Suite struct `Retention` {
    private func plan(_ relay: RelayProcess, _ arguments: String...) throws -> ChildProcess {
      let command = try ChildProcess(
        [Programs.relay, "retention", "--config", relay.folder["relay.yaml"]] + arguments, input: ""
      )
      try command.wait()
      return command
    }

    private func metric(_ name: String, _ relay: RelayProcess) throws -> Double? {
      try relay.metrics().split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        .flatMap { Double($0.dropFirst(name.count + 1)) }
    }

    @Test(arguments: ["fsync", "memory"])
    func `an entry is gone within a minute after its age, also where nothing is written any more`(
      _ durability: String
    ) throws {
      // 0.0001 days are 8.64 s.
      let relay = try RelayProcess(
        "log: { durability: \(durability) }\nretention: [{ rooms: \"old:*\", days: 0.0001 }]")
      let ada = try RawClient(relay, user: "ada")
      try ada.say("goes", in: "old:a", id: "1")
      try ada.say("goes too", in: "old:a", id: "2")
      try ada.say("stays", in: "new", id: "1")
      let written = ContinuousClock.now
      #expect(try ada.history("old:a").entries.count == 2)
      #expect(try becomesTrue { try ada.history("old:a").entries.isEmpty })
      let age = written.duration(to: .now)
      #expect(age >= .seconds(8) && age < .seconds(8.64 + 60), "\(age)")
      #expect(try ada.history("old:a").first == 3)
      #expect(try ada.history("new").entries.count == 1)
      let joined = try RawClient(relay, user: "bo").join("old:a", after: 1)
      #expect(joined.resume == .truncated && joined.after == 2 && joined.head == 2)
      #expect(try ada.say("the numbers go on", in: "old:a", id: "3").seq == 3)
      #expect(try metric("relay_retention_removed_entries_total", relay) == 2)
      #expect(try metric("relay_retention_lag_seconds", relay) ?? 99 < 60)
    }

    @Test func `the plan says what SIGHUP then has the relay remove`() throws {
      let relay = try RelayProcess()
      let ada = try RawClient(relay, user: "ada")
      for id in 1...20 { try ada.say("hello", in: "tea", id: "\(id)") }
      #expect(
        try plan(relay, "--plan").output
          == "Every entry is kept: neither retention nor log.keep_entries_per_room is set.\n")
      let file = relay.folder["relay.yaml"]
      let yaml = try String(decoding: readBytes(file), as: UTF8.self)
      try relay.folder.write(
        yaml + "retention: [{ rooms: \"t?a\", entries: 5 }]\n", to: "relay.yaml")
      let output = try plan(relay, "--plan").output
      #expect(
        output.hasPrefix(
          "tea\trule t?a\tgo 15 entries (210 bytes)\tstay 5 entries (70 bytes)\toldest 16 of 2"),
        "\(output)")
      #expect(try ada.history("tea").first == 1)
      relay.process.signal(SIGHUP)
      #expect(try becomesTrue { try ada.history("tea").first == 16 })
      #expect(!relay.process.errors.contains("are not in effect"))
      #expect(
        try plan(relay, "--plan").output.hasPrefix("tea\trule t?a\tgo 0 entries (0 bytes)\tstay 5"))

      try relay.folder.write(
        yaml + "retention: [{ rooms: \"t*\", entries: 5 }, { rooms: tea, days: 1 }]\n",
        to: "relay.yaml")
      let hidden = "The rule of retention for \"tea\" never applies"
      relay.process.signal(SIGHUP)
      try relay.process.waitForErrors { $0.contains(hidden) }
      #expect(try plan(relay, "--plan").errors.hasPrefix(hidden))
      let check = try RelayProcess.command("check-config", "--config", file)
      #expect(try check.wait() == .exit(0))
      #expect(check.errors.contains(hidden))
      let usage = try plan(relay)
      #expect(usage.errors.contains("Use --plan to print what it would remove."))
    }
  }
}
