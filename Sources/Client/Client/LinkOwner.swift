package import EventLoop
package import Platform
internal import TLS
package import WebSocket

/// The owner of a `Link` on an event loop, which connects it. The extension reads and writes.
///
/// Confined to the loop's thread.
package protocol LinkOwner: AnyObject {
  var connection: LinkState { get }
  /// The request with which the WebSocket is opened.
  func handshake() -> ClientHandshake
  /// Continues after the connection was established, by default with the opening handshake.
  func connected()
  /// Handles an address that does not accept the connection.
  func connectingFailed(_ error: SystemError)
  /// Observes that bytes have arrived, before they are handled.
  func arrived(_ count: Int)
  /// Handles bytes that the owner understands without their being decoded, and skips them.
  func skipKnown(_ input: inout LinkInput)
  /// The opening handshake is complete.
  func opened()
  /// Handles a message; text is valid UTF-8.
  func received(_ opcode: Opcode, _ message: Span<UInt8>)
  /// Handles the state of TLS after a read.
  func followEncryption()
  /// Handles the end of the connection, which is of no more use.
  func ended(_ end: LinkEnd)
  /// Calls `flush`, at the latest before the loop sleeps.
  func outputWaits()
}

/// A link, and what it uses of its loop.
package final class LinkState {
  package let loop: EventLoop
  package let resources: LinkResources
  package var link: Link
  /// The token of the loop's events; 0 for a session's executor that has not started, or has ended.
  package var token: UInt64
  /// Whether nothing is read at present.
  package var isPaused = false
  /// The maximum number of bytes to read next.
  package var readLimit = Int.max
  /// Whether the loop's `LinkLoop` will flush it.
  var isDirty = false
  /// The timer of the session, if the owner executes one.
  var timer = DeadlineTimer()
  /// The ticket of the last TLS session, which shortens the next handshake with the same server.
  private(set) var ticket: TLSTicket?

  package init(
    _ loop: EventLoop, _ resources: LinkResources, token: UInt64 = 0,
    limits: Limits = Link.limits
  ) {
    self.loop = loop
    self.resources = resources
    self.token = token
    link = Link(limits: limits)
  }

  /// Begins to connect; see `Link.connect`.
  package func connect(
    to address: Address, from source: Address? = nil, rest: ArraySlice<Address> = [],
    receiveBufferBytes: Int? = nil
  ) throws(SystemError) {
    try link.connect(
      to: address, from: source, rest: rest, receiveBufferBytes: receiveBufferBytes, on: loop,
      token: token)
  }

  /// Drops the connection or the attempt.
  package func drop() {
    ticket = link.tls?.ticket ?? ticket
    link.drop(from: loop)
  }
}

extension LinkOwner {
  /// Handles an event of the loop.
  package func ready(_ readiness: Readiness) {
    switch connection.link.phase {
    case .none, .resolving: break
    case .connecting:
      if let error = connection.link.connectionError() {
        connectingFailed(error)
      } else {
        connected()
      }
    case .securing, .handshaking, .open:
      if readiness.contains(.writable) { outputWaits() }
      if !connection.isPaused, !readiness.isDisjoint(with: [.readable, .closed, .failed]) {
        read()
      }
    }
  }

  /// Begins the opening handshake.
  package func greet() {
    connection.link.begin(handshake())
    outputWaits()
  }

  /// Sends output, and waits for what is next.
  package func flush() {
    do {
      try connection.link.flush(on: connection.loop, isReading: !connection.isPaused)
    } catch {
      ended(.lost(error))
    }
  }

  private func read() {
    let connection = connection
    var input = connection.resources.borrowInput()
    defer { connection.resources.returnInput(input) }
    for _ in 0..<Link.readsPerTurn {
      switch connection.link.read(into: &input, limit: connection.readLimit) {
      case .bytes(let count):
        arrived(count)
        takeEvents(of: &input, connection)
        followEncryption()
        if connection.isPaused || !input.isFull { return }
      case .nothing: return
      case .ended(let end): return ended(end)
      }
    }
  }

  private func takeEvents(of input: inout LinkInput, _ connection: LinkState) {
    while true {
      skipKnown(&input)
      guard let event = connection.link.next(in: &input, with: connection.resources) else { break }
      switch event {
      case .opened: opened()
      case .message(let opcode): input.withMessage { received(opcode, $0) }
      case .ended(let end): return ended(end)
      }
    }
    if connection.link.hasOutput { outputWaits() }
  }

  // MARK: What most owners do

  package func connected() { greet() }
  package func arrived(_ count: Int) {}
  package func skipKnown(_ input: inout LinkInput) {}
  package func opened() {}
  package func followEncryption() {}
}
