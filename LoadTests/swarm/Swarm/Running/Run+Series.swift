internal import Glibc

/// The time line that reports draw.
extension Run {
  /// Closes the present second if it is over; while the load is on, or its last words come.
  func takeNoteOfSecond() {
    guard stage == .playing || stage == .settling, elapsed >= recorder.end else { return }
    closeSecond()
  }

  /// Closes the present second as it is.
  func closeSecond() {
    let clients = members.count { $0?.peer.isLive ?? false }
    let relayBytes = relay?.residentBytes
    footprint.look(connections: clients, relay: relayBytes)
    recorder.close(
      at: elapsed,
      .init(
        deliveries: oracle.deliveries, clients: clients, relayCPUSeconds: relay?.cpuSeconds,
        relayBytes: relayBytes))
  }
}
