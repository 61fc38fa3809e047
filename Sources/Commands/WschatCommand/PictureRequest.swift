import Client
import Glibc
import Platform
import TLS

/// One request over HTTP for a person's picture, to the relay of the conversation and to no other
/// host: the address that the directory has is the relay's business. Blocks, for a bounded time.
struct PictureRequest {
  /// What an answer may cost.
  static let answerLimitBytes = 1 << 20
  static let headLimitBytes = 16 << 10
  static let timeoutMilliseconds: Int32 = 10_000

  private enum Failure: Error { case failed }

  var url: RelayURL
  var trust: TLSTrust
  var user: String?
  var token: String?

  /// Returns the file; `nil` if there is none, or no connection, or the answer is not a PNG of at
  /// most `answerLimitBytes`.
  func picture(of person: String) -> [UInt8]? {
    guard let addresses = try? Address.resolve(host: url.host, port: url.port) else { return nil }
    for address in addresses.prefix(4) {
      guard let answer = try? self.answer(request(person), from: address) else { continue }
      return Self.content(of: answer)
    }
    return nil
  }

  private func request(_ person: String) -> [UInt8] {
    // The relay's page and its resources are where its socket is.
    let path = url.target.prefix { $0 != "?" }
    let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    var target = "\(folder)/v1/avatars/\(person)"
    if token == nil, let user { target += "?user=\(user)" }
    var head = "GET \(target) HTTP/1.1\r\nHost: \(url.authority)\r\nAccept: image/png\r\n"
    if let token { head += "Authorization: Bearer \(token)\r\n" }
    return Array("\(head)Connection: close\r\n\r\n".utf8)
  }

  /// Returns the content of a 200 with the type PNG and a length that is there.
  static func content(of answer: [UInt8]) -> [UInt8]? {
    let end: [UInt8] = Array("\r\n\r\n".utf8)
    guard let bodyStart = answer.prefix(headLimitBytes).firstRange(of: end)?.upperBound else {
      return nil
    }
    let head = String(decoding: answer[..<(bodyStart - end.count)], as: UTF8.self)
    let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
    guard let status = lines.first?.split(separator: " "), status.count >= 2,
      status[0].hasPrefix("HTTP/1."), status[1] == "200"
    else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      headers[line[..<colon].lowercased()] =
        line[line.index(after: colon)...].lowercased().filter { $0 != " " && $0 != "\t" }
    }
    guard headers["transfer-encoding"] == nil, headers["content-encoding"] == nil,
      let length = headers["content-length"].flatMap({ Int($0) }), length > 0,
      length <= answerLimitBytes, answer.count - bodyStart == length
    else { return nil }
    guard headers["content-type"]?.hasPrefix("image/png") == true else { return nil }
    return Array(answer[bodyStart...])
  }

  // MARK: The connection

  private func answer(_ request: [UInt8], from address: Address) throws -> [UInt8] {
    let deadline = Instant.now().adding(milliseconds: Int(Self.timeoutMilliseconds))
    let socket = try Socket.connect(to: address)
    try wait(for: POLLOUT, on: socket.borrowed, until: deadline)
    try socket.finishConnecting()
    var tls: TLSChannel?
    if url.isEncrypted {
      tls = TLSChannel(client: try TLSContext(trusting: trust), host: url.host)
      guard tls != nil else { throw Failure.failed }
    }
    var answer: [UInt8] = []
    var sent = 0
    var buffer = [UInt8](repeating: 0, count: TLSSession.headroomBytes + (64 << 10))
    while answer.count <= Self.answerLimitBytes + Self.headLimitBytes {
      if let tls {
        guard tls.flush(to: socket.borrowed) != nil else { throw Failure.failed }
        if case .failed = tls.state { throw Failure.failed }
      }
      if sent < request.count, tls == nil || tls?.state == .open {
        sent += try send(request.span.extracting(sent...), tls, socket.borrowed)
      }
      let isSending = tls?.hasBacklog == true || (tls == nil && sent < request.count)
      try wait(for: isSending ? POLLOUT | POLLIN : POLLIN, on: socket.borrowed, until: deadline)
      guard let count = try read(into: &buffer, tls, socket.borrowed) else { return answer }
      answer += buffer[..<count]
      if tls?.state == .ended { return answer }
    }
    throw Failure.failed
  }

  private func send(
    _ bytes: Span<UInt8>, _ tls: TLSChannel?, _ socket: BorrowedSocket
  ) throws -> Int {
    if let tls {
      guard let written = tls.write(bytes, to: socket) else { throw Failure.failed }
      return written.taken
    }
    switch socket.send(bytes) {
    case .sent(let count): return count
    case .wouldBlock: return 0
    case .failed(let error): throw error
    }
  }

  /// Returns the number of bytes read; `nil` at the end.
  private func read(
    into buffer: inout [UInt8], _ tls: TLSChannel?, _ socket: BorrowedSocket
  ) throws -> Int? {
    var span = buffer.mutableSpan
    let result =
      if let tls { tls.read(from: socket, into: &span).plaintext } else { socket.read(into: &span) }
    switch result {
    case .bytes(let count): return count
    case .wouldBlock: return 0
    case .end: return nil
    case .failed(let error): throw error
    }
  }

  private func wait(for events: Int32, on socket: BorrowedSocket, until deadline: Instant) throws {
    let left = deadline.milliseconds(since: Instant.now())
    guard left > 0 else { throw Failure.failed }
    var request = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
    _ = unsafe poll(&request, 1, Int32(left))
  }
}
