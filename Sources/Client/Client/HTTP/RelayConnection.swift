internal import Glibc
internal import Platform
internal import TLS

/// The connection of one request: connects, sends, and receives, in the thread that calls it.
struct RelayConnection {
  /// The most that is read from a file or a socket at once.
  private static let partBytes = 64 << 10

  private let address: Address
  private let url: RelayURL
  private let trust: TLSTrust
  private let patience: RelayRequest.Patience
  private let cancellation: Cancellation?

  init(
    to address: Address, of url: RelayURL, trust: TLSTrust, patience: RelayRequest.Patience,
    cancellation: Cancellation?
  ) {
    self.address = address
    self.url = url
    self.trust = trust
    self.patience = patience
    self.cancellation = cancellation
  }

  /// Sends a head and a body, and passes on what comes, until the end or until `take` wants no more.
  /// An answer may come before all of the request was sent: the relay refuses it.
  func exchange(
    _ head: [UInt8], _ body: RelayRequest.Body,
    _ take: (ArraySlice<UInt8>) throws(RelayRequest.Failure) -> Bool
  ) throws(RelayRequest.Failure) {
    var deadline = newDeadline
    let socket = try connect(until: deadline)
    let tls = url.isEncrypted ? try secure() : nil
    var request = Outgoing(head, body)
    // Who refuses a request may close the connection before it has read all of it: its answer is
    // still to be read.
    var isCut = false
    var buffer = [UInt8](repeating: 0, count: TLSSession.headroomBytes + Self.partBytes)
    while true {
      if let tls {
        guard tls.flush(to: socket.borrowed) != nil else { throw .connection(.lost(nil)) }
        if case .failed(let failure) = tls.state { throw .connection(explain(failure)) }
      }
      if tls == nil || tls?.state == .open, tls?.hasBacklog != true, !request.isSent {
        do throws(RelayRequest.Failure) {
          let count = try send(try request.next(), tls, socket.borrowed)
          request.advance(by: count)
          if count > 0, case .idle = patience { deadline = newDeadline }
        } catch {
          guard case .connection = error else { throw error }
          isCut = true
          request.end()
        }
      }
      let isSending =
        tls?.hasBacklog == true || (tls == nil || tls?.state == .open) && !request.isSent
      try wait(for: isSending ? POLLOUT | POLLIN : POLLIN, on: socket.borrowed, until: deadline)
      guard let count = try read(into: &buffer, tls, socket.borrowed, isCut) else { return }
      if count > 0 {
        if case .idle = patience { deadline = newDeadline }
        if try !take(buffer[..<count]) { return }
      }
      if tls?.state == .ended { return }
    }
  }

  /// The part of a request that is not sent yet.
  private struct Outgoing {
    private var bytes: [UInt8]
    private var sent = 0
    private var file: FilePart?

    init(_ head: [UInt8], _ body: RelayRequest.Body) {
      bytes = head
      switch body {
      case .none: break
      case .json(let json): bytes += json
      case .file(let part, type: _): file = part
      }
    }

    var isSent: Bool { sent == bytes.count && file?.isEmpty ?? true }

    mutating func next() throws(RelayRequest.Failure) -> ArraySlice<UInt8> {
      if sent == bytes.count, file?.isEmpty == false {
        do throws(SystemError) {
          bytes = try file?.read(atMost: partBytes) ?? []
          sent = 0
        } catch {
          throw .file(error)
        }
      }
      return bytes[sent...]
    }

    mutating func advance(by count: Int) {
      sent += count
      file?.report(unsent: bytes.count - sent)
    }

    mutating func end() {
      sent = bytes.count
      file = nil
    }
  }

  private var newDeadline: Instant {
    switch patience {
    case .total(let milliseconds), .idle(let milliseconds):
      Instant.now().adding(milliseconds: milliseconds)
    }
  }

  private func connect(until deadline: Instant) throws(RelayRequest.Failure) -> Socket {
    let call = "connect \(address)"
    do throws(SystemError) {
      let socket = try Socket.connect(to: address)
      do throws(RelayRequest.Failure) {
        try wait(for: POLLOUT, on: socket.borrowed, until: deadline)
      } catch .connection {
        throw SystemError(call, code: ETIMEDOUT)
      } catch {
        throw SystemError(call, code: ECANCELED)
      }
      try socket.finishConnecting()
      return socket
    } catch {
      if error.code == ECANCELED { throw .cancelled }
      throw .connection(.unreachable(SystemError(call, code: error.code)))
    }
  }

  private func secure() throws(RelayRequest.Failure) -> TLSChannel {
    let context: TLSContext
    do throws(TLSFileError) {
      context = try TLSContext(trusting: trust)
    } catch {
      throw .connection(.noAuthorities(error))
    }
    guard let channel = TLSChannel(client: context, host: url.host) else {
      throw .connection(.notEncrypted(.broken("out of memory")))
    }
    return channel
  }

  private func explain(_ failure: TLSFailure) -> ClientError {
    if case .untrusted(let reason) = failure { return .untrusted(host: url.host, reason: reason) }
    return .notEncrypted(failure)
  }

  private func send(
    _ bytes: ArraySlice<UInt8>, _ tls: TLSChannel?, _ socket: BorrowedSocket
  ) throws(RelayRequest.Failure) -> Int {
    if let tls {
      guard let written = tls.write(bytes.span, to: socket) else { throw .connection(.lost(nil)) }
      return written.taken
    }
    switch socket.send(bytes.span) {
    case .sent(let count): return count
    case .wouldBlock: return 0
    case .failed(let error): throw .connection(.lost(error))
    }
  }

  /// Returns the number of bytes read; `nil` at the end.
  private func read(
    into buffer: inout [UInt8], _ tls: TLSChannel?, _ socket: BorrowedSocket, _ isCut: Bool
  ) throws(RelayRequest.Failure) -> Int? {
    var span = buffer.mutableSpan
    let result =
      if let tls { tls.read(from: socket, into: &span).plaintext } else { socket.read(into: &span) }
    switch result {
    case .bytes(let count): return count
    case .wouldBlock: return 0
    case .end: return nil
    case .failed where isCut: return nil
    case .failed(let error): throw .connection(.lost(error))
    }
  }

  /// Waits until something has happened; throws after the deadline, and when the request is cancelled.
  private func wait(
    for events: Int32, on socket: BorrowedSocket, until deadline: Instant
  ) throws(RelayRequest.Failure) {
    let left = deadline.milliseconds(since: Instant.now())
    var requests = [
      pollfd(fd: socket.descriptor, events: Int16(events), revents: 0),
      // A negative descriptor is ignored.
      pollfd(fd: cancellation?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let count = unsafe poll(&requests, 2, Int32(clamping: max(0, left)))
    if requests[1].revents != 0 { throw .cancelled }
    if count == 0 || left <= 0 { throw .connection(timeout) }
  }

  private var timeout: ClientError {
    switch patience {
    case .total(let milliseconds): .noWelcome(afterMilliseconds: milliseconds)
    case .idle(let milliseconds): .silent(milliseconds: milliseconds)
    }
  }
}
