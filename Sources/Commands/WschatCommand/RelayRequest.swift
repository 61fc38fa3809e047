import Client
import Glibc
import Platform
import TLS

/// A request over HTTP to the relay of the conversation and to no other host, on a connection of its
/// own. Blocks, for a bounded time, and reads a bounded answer.
///
/// A redirection is an answer like others: the token goes to no other host.
struct RelayRequest: Sendable {
  struct Answer {
    var status: Int
    /// In lower case; empty if there is none.
    var contentType: String
    var body: [UInt8]
  }

  /// Why there is no answer; prints as a sentence without a full stop.
  enum Failure: Error, CustomStringConvertible {
    case connection(ClientError)
    case notHTTP
    case tooLong(limitBytes: Int)

    var description: String {
      switch self {
      case .connection(let error): "\(error)\(LineChat.advice(about: error))"
      case .notHTTP: "its answer is not one that wschat understands"
      case .tooLong(let limitBytes): "its answer has more than \(limitBytes) bytes"
      }
    }
  }

  static let headLimitBytes = 16 << 10
  /// For one address of the host, from the attempt to connect to the end of the answer.
  static let timeoutMilliseconds = 10_000
  /// The addresses of the host that are tried.
  private static let addressesLimit = 4

  var url: RelayURL
  var trust: TLSTrust
  var token: String?

  /// Sends a request, and returns the relay's answer.
  /// - Parameters:
  ///   - resource: Relative to the relay, such as `v1/sessions`, perhaps with a query.
  ///   - body: JSON; `nil` for none.
  ///   - type: The type of the answer that is wanted.
  ///   - limitBytes: The most that the body of the answer may have.
  func send(
    _ method: String, _ resource: String, body: [UInt8]? = nil, accepting type: String,
    limitBytes: Int
  ) throws(Failure) -> Answer {
    let request = request(method, resource, body, type)
    let addresses: [Address]
    do throws(AddressError) {
      addresses = try Address.resolve(host: url.host, port: url.port)
    } catch {
      let reason = if case .unresolved(_, let reason) = error { reason } else { "not a host" }
      throw .connection(.unresolved(host: url.host, reason: reason))
    }
    var failure = Failure.connection(.lost(nil))
    for address in addresses.prefix(Self.addressesLimit) {
      do throws(Failure) {
        let bytes = try exchange(request, with: address, limitBytes: limitBytes)
        return try Self.answer(in: bytes, limitBytes: limitBytes)
      } catch {
        // Another address of the host would give the same answer.
        guard case .connection = error else { throw error }
        failure = error
      }
    }
    throw failure
  }

  private func request(
    _ method: String, _ resource: String, _ body: [UInt8]?, _ type: String
  ) -> [UInt8] {
    var head = "\(method) \(url.target(of: resource)) HTTP/1.1\r\n"
    head += "Host: \(url.authority)\r\nAccept: \(type)\r\n"
    if let token { head += "Authorization: Bearer \(token)\r\n" }
    if let body {
      head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n"
    }
    return Array("\(head)Connection: close\r\n\r\n".utf8) + (body ?? [])
  }

  /// Reads an answer whose length is known: by its status, by its head, or by its chunks.
  static func answer(in bytes: [UInt8], limitBytes: Int) throws(Failure) -> Answer {
    let end: [UInt8] = Array("\r\n\r\n".utf8)
    guard let bodyStart = bytes.prefix(headLimitBytes).firstRange(of: end)?.upperBound else {
      throw .notHTTP
    }
    let head = String(decoding: bytes[..<(bodyStart - end.count)], as: UTF8.self)
    let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
    guard let first = lines.first?.split(separator: " "), first.count >= 2,
      first[0].hasPrefix("HTTP/1."), let status = Int(first[1]), 200...599 ~= status
    else { throw .notHTTP }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { throw .notHTTP }
      headers[line[..<colon].lowercased()] =
        line[line.index(after: colon)...].lowercased().filter { $0 != " " && $0 != "\t" }
    }
    let type = headers["content-type"] ?? ""
    if let coding = headers["transfer-encoding"] {
      // With a length as well, it is not clear where the answer ends (RFC 9112 §6.3).
      guard coding == "chunked", headers["content-length"] == nil,
        headers["content-encoding"] == nil,
        let body = try ChunkedBody.decode(bytes[bodyStart...], limitBytes: limitBytes)
      else { throw .notHTTP }
      return Answer(status: status, contentType: type, body: body)
    }
    let body = Array(bytes[bodyStart...])
    let length = headers["content-length"].flatMap { Int($0) } ?? (status == 204 ? 0 : -1)
    if length > limitBytes { throw .tooLong(limitBytes: limitBytes) }
    guard headers["content-encoding"] == nil, length == body.count else { throw .notHTTP }
    return Answer(status: status, contentType: type, body: body)
  }

  // MARK: The connection

  private func exchange(
    _ request: [UInt8], with address: Address, limitBytes: Int
  ) throws(Failure) -> [UInt8] {
    let deadline = Instant.now().adding(milliseconds: Self.timeoutMilliseconds)
    let socket = try connect(to: address, until: deadline)
    let tls = url.isEncrypted ? try secure() : nil
    var answer: [UInt8] = []
    var sent = 0
    var buffer = [UInt8](repeating: 0, count: TLSSession.headroomBytes + (64 << 10))
    // An eighth more, for the sizes of chunks.
    while answer.count <= limitBytes + limitBytes / 8 + Self.headLimitBytes {
      if let tls {
        guard tls.flush(to: socket.borrowed) != nil else { throw .connection(.lost(nil)) }
        if case .failed(let failure) = tls.state { throw .connection(explain(failure)) }
      }
      if sent < request.count, tls == nil || tls?.state == .open {
        sent += try send(request.span.extracting(sent...), tls, socket.borrowed)
      }
      let isSending = tls?.hasBacklog == true || (tls == nil && sent < request.count)
      guard wait(for: isSending ? POLLOUT | POLLIN : POLLIN, on: socket.borrowed, until: deadline)
      else { throw .connection(.noWelcome(afterMilliseconds: Self.timeoutMilliseconds)) }
      guard let count = try read(into: &buffer, tls, socket.borrowed) else { return answer }
      answer += buffer[..<count]
      if tls?.state == .ended { return answer }
    }
    throw .tooLong(limitBytes: limitBytes)
  }

  private func connect(to address: Address, until deadline: Instant) throws(Failure) -> Socket {
    do throws(SystemError) {
      let socket = try Socket.connect(to: address)
      guard wait(for: POLLOUT, on: socket.borrowed, until: deadline) else {
        throw SystemError("connect \(address)", code: ETIMEDOUT)
      }
      try socket.finishConnecting()
      return socket
    } catch {
      throw .connection(.unreachable(SystemError("connect \(address)", code: error.code)))
    }
  }

  private func secure() throws(Failure) -> TLSChannel {
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
    _ bytes: Span<UInt8>, _ tls: TLSChannel?, _ socket: BorrowedSocket
  ) throws(Failure) -> Int {
    if let tls {
      guard let written = tls.write(bytes, to: socket) else { throw .connection(.lost(nil)) }
      return written.taken
    }
    switch socket.send(bytes) {
    case .sent(let count): return count
    case .wouldBlock: return 0
    case .failed(let error): throw .connection(.lost(error))
    }
  }

  /// Returns the number of bytes read; `nil` at the end.
  private func read(
    into buffer: inout [UInt8], _ tls: TLSChannel?, _ socket: BorrowedSocket
  ) throws(Failure) -> Int? {
    var span = buffer.mutableSpan
    let result =
      if let tls { tls.read(from: socket, into: &span).plaintext } else { socket.read(into: &span) }
    switch result {
    case .bytes(let count): return count
    case .wouldBlock: return 0
    case .end: return nil
    case .failed(let error): throw .connection(.lost(error))
    }
  }

  /// - Returns: Whether something has happened before the deadline.
  private func wait(for events: Int32, on socket: BorrowedSocket, until deadline: Instant) -> Bool {
    let left = deadline.milliseconds(since: Instant.now())
    guard left > 0 else { return false }
    var request = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
    return unsafe poll(&request, 1, Int32(left)) != 0
  }
}
