import Testing
import Wire

@testable import Swarm

/// A log that has lost its last entries, and the clients that hold them.
@Suite struct `The oracle, of a log that forks` {
  /// Five entries, of which the log then loses the last two, and gets another one.
  private func forked() -> OracleScene {
    var scene = OracleScene(mayFork: true)
    for turn in 0..<5 { scene.say(from: turn % 3) }
    scene.log[0].removeLast(2)
    scene.oracle.mayHaveForked(before: 100)
    return scene
  }

  @Test func `clients that are told drop lost entries, and the run is good`() {
    var scene = forked()
    for client in 0..<3 { scene.join(client, 0, after: 5, told: 3, .diverged) }
    scene.say(from: 0)
    for client in 0..<3 { scene.oracle.demandHead(of: client) }
    let verdict = scene.finish()
    #expect(scene.broken == [:])
    #expect(scene.oracle.forksTold == 3)
    #expect(verdict.lostInForks == 2)
    #expect(verdict.acknowledged == 6)
  }

  @Test func `a client that is not told is found, by the first entry that it should not hold`() {
    var scene = forked()
    for client in 0..<2 { scene.join(client, 0, after: 5, told: 3, .diverged) }
    let entry = scene.send(from: 0, to: 0)
    scene.ack(entry)
    scene.deliver(entry, to: 0, 1)
    for client in 0..<3 { scene.oracle.demandHead(of: client) }
    _ = scene.finish()
    #expect(scene.broken == [.untold: 1])
    #expect(scene.oracle.violations.first?.seqs == [4])
    #expect(scene.oracle.violations.first?.detail.contains("was not told") == true)
  }

  @Test func `a client that holds an entry beyond the end of the log is found`() {
    var scene = forked()
    scene.oracle.demandHead(of: 1)
    _ = scene.finish()
    #expect(scene.broken[.untold] == 1)
  }

  @Test func `a message that was lost and stored again is in the log once`() {
    var scene = forked()
    for client in 0..<3 { scene.join(client, 0, after: 5, told: 3, .diverged) }
    var entry = scene.send(from: 0, to: 0)
    scene.deliver(entry, to: 0)
    scene.log[0].removeLast()
    scene.join(0, 0, after: 4, told: 3, .diverged)
    scene.say(from: 1)
    entry.seq = 5
    scene.log[0].append(entry)
    scene.ack(entry)
    scene.deliver(entry, to: 0, 1, 2)
    for client in 0..<3 { scene.oracle.demandHead(of: client) }
    _ = scene.finish()
    #expect(scene.broken == [:])

    entry.seq = 6
    scene.log[0].append(entry)
    scene.deliver(entry, to: 0, 1, 2)
    _ = scene.finish()
    #expect(scene.broken[.doubled] == 1)
  }

  @Test func `an acknowledged message that is missing without a fork is lost`() {
    var scene = OracleScene(mayFork: true)
    scene.say(from: 0)
    let entry = scene.send(from: 1, to: 0)
    scene.ack(entry)
    scene.log[0].removeLast()
    let verdict = scene.finish()
    #expect(scene.broken == [.lost: 1])
    #expect(verdict.lostInForks == 0)
  }

  @Test func `a message that was sent after the fork must not be lost`() {
    var scene = forked()
    for client in 0..<3 { scene.join(client, 0, after: 5, told: 3, .diverged) }
    scene.oracle.mayHaveForked(before: 1)
    let verdict = scene.finish()
    // Each client's first message has the time 1, the second 2.
    #expect(verdict.lostInForks == 0)
    #expect(scene.broken == [.lost: 2])
  }

  @Test func `a gap is a gap in such a log as well`() {
    var scene = OracleScene(mayFork: true)
    scene.say(from: 0)
    let missed = scene.send(from: 1, to: 0)
    scene.ack(missed)
    scene.deliver(missed, to: 0, 1)
    let next = scene.send(from: 1, to: 0)
    scene.ack(next)
    scene.deliver(next, to: 0, 1, 2)
    for client in 0..<3 { scene.oracle.demandHead(of: client) }
    _ = scene.finish()
    #expect(scene.broken[.gap] == 1)
  }
}
