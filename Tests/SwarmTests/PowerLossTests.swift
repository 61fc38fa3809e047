import Testing

/// Real relays that lose power: the recorder, the model of the disk, `relay verify` and the oracle.
@Suite struct `swarm run, when the power goes` {
  private static func scenario(durability: String) -> String {
    """
    spawn:
      config: { log: { durability: \(durability) }, limits: { sends_per_s: 100, burst: 200 } }
    rooms: [{ shape: many, count: 3 }]
    clients: [{ persona: chatter, count: 12 }]
    phases:
      - { seconds: 1.2, connections: { constant: 100 } }
      - { seconds: 6, messages: { constant: 150 } }
    chaos: [{ do: power_loss, at_s: 2, times: 4, every_s: 1.2 }]
    """
  }

  @Test func `a relay that syncs loses nothing that it has acknowledged or shown`() throws {
    let run = try SwarmProcess(playing: Self.scenario(durability: "fsync"))
    // On a busy machine swarm may lag: this does not matter here.
    #expect([0, 4].contains(run.exitCode), "\(run.output)")
    #expect(run.output.contains("power restored, with no unsynced writes"), "\(run.output)")
    #expect(run.output.contains("900 intended, 900 acknowledged"), "\(run.output)")
    #expect(!run.output.contains("BROKEN"), "\(run.output)")
  }

  @Test func `a relay that does not sync is detected`() throws {
    let run = try SwarmProcess(playing: Self.scenario(durability: "os"))
    #expect(run.exitCode == 3, "\(run.output)")
    #expect(run.output.contains("BROKEN lost,"), "\(run.output)")
  }
}
