internal import Relay
internal import SQLiteLog
internal import Wire

/// The end of a run: every fault is repaired, every client reads, and at last everything must have
/// been acknowledged and delivered.
extension Simulation {
  func becomeIdle() {
    isRepaired = true
    trace("repaired")
    disk.trouble = .init()
    disk.callsUntilDeath = nil
    disk.syncsUntilDeath = nil
    if disk.isDead, relay != nil { die() }
    for index in clients.indices {
      clients[index].end?.isStopped = false
      clients[index].stopActing()
      wake(client: index, in: 0)
    }
    let end = now.monotonic + 180_000
    play(until: end) { !clients.allSatisfy(\.isIdle) }
    guard referee.faults.isEmpty else { return }
    for client in clients { client.checkIdle() }
    for client in clients { client.end?.witness.close() }
    endFiles()
    guard referee.faults.isEmpty, let relay else { return }
    // Checks the files as the next process finds them.
    relay.beginShutdown()
    for loop in relay.loopIndices { wake(loop: loop, in: 0) }
    play(until: now.monotonic + Self.shutdownMilliseconds) { relay === self.relay }
    if relay === self.relay { return referee.fault("the last shutdown does not finish") }
    play(until: now.monotonic + 5_000) { self.relay == nil }
    guard referee.faults.isEmpty else { return }
    if self.relay == nil { referee.fault("the relay does not restart") }
    verify()
  }

  /// Checks the store as `relay verify` does.
  private func verify() {
    guard scenario.store == .sqlite else { return }
    do {
      let result = try Store.verify(folder: SimulatedSQLiteLog.folder, vfs: fileSystem.name)
      for problem in result.breaks.prefix(3) { referee.fault("verify: \(problem)") }
    } catch {
      referee.fault("verify: \(error)")
    }
  }
}
