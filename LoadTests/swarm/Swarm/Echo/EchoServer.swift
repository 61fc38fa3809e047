internal import Client
internal import EventLoop
internal import Platform

/// The resources that all echo peers share.
final class EchoServer {
  /// Timers with this bit belong to peers.
  static let timerBit: UInt64 = 1 << 63

  let loop: EventLoop
  let address: Address
  /// The source addresses of connections; empty leaves the choice to the system.
  private let sources: [Address]
  let authority: String
  let target: String
  let links = LinkResources()

  init(
    _ loop: EventLoop, address: Address, sources: [Address], authority: String, target: String
  ) {
    self.loop = loop
    self.address = address
    self.sources = sources
    self.authority = authority
    self.target = target
  }

  func source(of client: Int) -> Address? {
    sources.isEmpty ? nil : sources[client % sources.count]
  }
}
