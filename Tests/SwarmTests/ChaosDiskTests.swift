import Glibc
import TestSupport
import Testing

@testable import Swarm

/// The behaviour of a relay whose disk is full for the kernel as well.
@Suite struct `A full disk, end to end` {
  static func scenario(spawn: String, chaos: String) -> String {
    """
    spawn: { \(spawn) }
    rooms: [{ shape: many, count: 2, name: team }]
    clients: [{ persona: chatter, count: 20 }]
    phases:
      - { seconds: 1.2, connections: { constant: 50 } }
      - { seconds: 3, messages: { constant: 100 } }
      - { seconds: 0.5 }
    text_bytes: [1024, 2048]
    patience_ms: 3000
    chaos: [\(chaos)]
    """
  }
  static let ours = "disk_bytes: 16777216, config: { limits: { sends_per_s: 0, bytes_per_s: 0 } }"
  static func wrong(_ fault: String) -> String {
    "disk_bytes: 16777216, binary: '\(Programs.wrongRelay)', config: { fault: \(fault) }"
  }

  /// Tried once: containers often forbid mounts, even to root.
  static let isPossible =
    (try? SwarmProcess(
      playing: """
        spawn: { disk_bytes: 4194304 }
        rooms: [{ shape: one }]
        clients: [{ persona: lurker, count: 1 }]
        phases: [{ seconds: 0.1, connections: { constant: 10 } }]
        """))?.exitCode != 2

  @Test(.enabled(if: isPossible, "mounting a file system of its own takes root or user namespaces"))
  func `our relay refuses sends, loses nothing, and writes again when there is space`() throws {
    let run = try SwarmProcess(
      playing: Self.scenario(spawn: Self.ours, chaos: "{ do: fill_disk, at_s: 1.6, ms: 1200 }"))
    #expect(run.keptItsPromises, "\(run.output)")
    #expect(run.output.contains(" s: relay's disk filled for 1200 ms"), "\(run.output)")
    #expect(run.output.contains(" s: relay's disk has space again"), "\(run.output)")
    #expect(run.output.contains("300 intended, 300 acknowledged, 0 refused"), "\(run.output)")
    let line = try #require(
      run.output.split(separator: "\n").first { $0.hasPrefix("full disk at ") },
      "\(run.output)")
    let answers = line.split(separator: " ").dropFirst(5).first.flatMap { Int($0) }
    #expect((answers ?? 0) >= 2, "\(line)")
    #expect(
      line.contains(" sends were answered with \"unavailable\"; 0 clients disconnected"), "\(line)")
    #expect(line.contains(" sends waiting; 99 % had recovered after "), "\(line)")
  }

  @Test(.enabled(if: isPossible, "mounting a file system of its own takes root or user namespaces"))
  func `our relay, killed and started again while its disk is full, loses nothing`() throws {
    for steps in [
      "{ do: kill, at_s: 2 }, { do: restart, at_s: 3 }", "{ do: restart, at_s: 2 }",
    ] {
      let run = try SwarmProcess(
        playing: Self.scenario(
          spawn: Self.ours, chaos: "{ do: fill_disk, at_s: 1.6, ms: 1000 }, \(steps)"))
      #expect(run.keptItsPromises, "\(run.output)")
      #expect(run.output.contains("300 intended, 300 acknowledged, 0 refused"), "\(run.output)")
      #expect(!run.output.contains("NOT recovered"), "\(run.output)")
    }
  }

  @Test(.enabled(if: isPossible, "mounting a file system of its own takes root or user namespaces"))
  func `a relay that acknowledges entries on a full disk is detected when it is killed`()
    throws
  {
    let chaos = "{ do: fill_disk, at_s: 1.6, ms: 1000 }, { do: restart, at_s: 3 }"
    let honest = try SwarmProcess(playing: Self.scenario(spawn: Self.wrong("none"), chaos: chaos))
    #expect(honest.keptItsPromises, "\(honest.output)")
    let run = try SwarmProcess(playing: Self.scenario(spawn: Self.wrong("pretend"), chaos: chaos))
    #expect(run.exitCode == 3, "\(run.output)")
    #expect(run.output.contains("no send was refused"), "\(run.output)")
    #expect(
      run.output.contains("BROKEN two orders,") || run.output.contains("BROKEN forgotten,")
        || run.output.contains("BROKEN lost,"), "\(run.output)")
  }

  static let nobody: uid_t = 65534

  @Test(
    .enabled(
      if: isPossible && SwarmProcess.mayBeRun(by: nobody),
      "takes root, to become another user who may run what was built"))
  func `it does not need root, and nothing stays mounted`() throws {
    let run = try SwarmProcess(
      playing: Self.scenario(
        spawn: Self.wrong("none"), chaos: "{ do: fill_disk, at_s: 1.6, ms: 500 }"),
      through: SwarmProcess.becoming(Self.nobody))
    // If user namespaces are restricted, it says so.
    #expect(
      run.keptItsPromises
        || run.exitCode == 2 && run.output.contains("spawn.disk_bytes requires a mount"),
      "\(run.output)")
    let mounts = try readFile("/proc/self/mounts")
    #expect(!mounts.contains(" /tmp/swarm."))
  }

  @Test func `a disk is filled only if it belongs to the relay and has a size`() {
    func faults(_ spawn: String, _ step: String = "at_s: 1") -> String? {
      do {
        _ = try Scenario(
          yaml: Array(
            Self.scenario(
              spawn: spawn, chaos: "{ do: cut, at_s: 1 },\n  { do: fill_disk, \(step) }"
            )
            .utf8),
          file: "a.yaml")
        return nil
      } catch {
        return error.description
      }
    }
    #expect(faults("disk_bytes: 4194304") == nil)
    #expect(
      faults("")
        == "a.yaml:11: chaos[1].do is fill_disk, but the relay has no disk of its own;"
        + " give spawn the size of a disk, such as disk_bytes: 67108864")
    #expect(
      faults("disk_bytes: 64M")
        == "a.yaml:1: spawn.disk_bytes is \"64M\"; expected 4194304 to 17179869184 bytes")
    #expect(
      faults("disk_bytes: 4194304", "at_s: 1, share: 0.5")
        == "a.yaml:11: chaos[1].share has no meaning for do: fill_disk; remove it")
  }

  @Test func `a step that fills the disk ends, and is planned where it does`() throws {
    let scenario = try Scenario(
      yaml: Array(
        Self.scenario(
          spawn: "disk_bytes: 4194304", chaos: "{ do: fill_disk, at_s: 1, ms: 500 }"
        ).utf8), file: "a.yaml")
    let events = Plan(scenario).events
    #expect(
      events.contains(.init(at: 1_000_000_000, kind: .chaos(.fillDisk(milliseconds: 500)))))
    #expect(events.contains(.init(at: 1_500_000_000, kind: .freeDisk)))
  }
}
