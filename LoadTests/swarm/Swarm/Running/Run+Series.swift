internal import Glibc

/// The recording of the time series.
extension Run {
  /// Closes the current second if it is over, during the load and while waiting for the last
  /// messages.
  func takeNoteOfSecond() {
    guard stage == .playing || stage == .draining, elapsed >= recorder.end else { return }
    closeSecond()
  }

  /// Closes the current second now.
  func closeSecond() {
    let clients = members.count { $0?.peer.isLive ?? false }
    let relayBytes = cluster?.residentBytes
    footprint.look(connections: clients, relay: relayBytes)
    recorder.close(
      at: elapsed,
      .init(
        deliveries: oracle.deliveries, clients: clients, relayCPUSeconds: cluster?.cpuSeconds,
        relayBytes: relayBytes))
    display?.show(
      recorder.series, of: plan.scenario, lost: outcome.connectionsLost,
      broken: oracle.counts.values.reduce(0, +))
  }
}
