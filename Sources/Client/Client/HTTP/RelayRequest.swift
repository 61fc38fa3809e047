internal import Glibc
package import Platform
package import TLS

/// A request over HTTP to the relay of the conversation and to no other host, on a connection of its
/// own. Blocks, for a bounded time, and reads a bounded answer.
///
/// A redirection is an answer like others: the token goes to no other host.
package struct RelayRequest: Sendable {
  package struct Answer: Equatable, Sendable {
    package var head: AnswerHead
    package var body: [UInt8]

    package var status: Int { head.status }
    /// In lower case; empty if there is none.
    package var contentType: String { head.folded("content-type") ?? "" }
  }

  /// Why there is no answer; prints as a sentence without a full stop.
  package enum Failure: Error, CustomStringConvertible {
    case connection(ClientError)
    case notHTTP
    case tooLong(limitBytes: Int)
    /// A file of this machine cannot be read or written.
    case file(SystemError)
    /// The relay refuses, for this reason.
    case refused(String)
    case cancelled

    package var description: String {
      switch self {
      case .connection(let error): "\(error)"
      case .notHTTP: "its answer cannot be understood"
      case .tooLong(let limitBytes): "its answer has more than \(limitBytes) bytes"
      case .file(let error): "\(error)"
      case .refused(let reason): reason
      case .cancelled: "cancelled"
      }
    }
  }

  /// What follows the head of a request.
  package enum Body: Sendable {
    case none
    case json([UInt8])
    /// A part of a file, of this type.
    case file(FilePart, type: String)
  }

  /// How long a connection may take.
  package enum Patience: Sendable {
    /// From the attempt to connect to the end of the answer.
    case total(milliseconds: Int)
    /// Without a byte in either direction.
    case idle(milliseconds: Int)
  }

  /// For one address of the host.
  package static let timeoutMilliseconds = 10_000
  /// The addresses of the host that are tried.
  private static let addressesLimit = 4

  package var url: RelayURL
  package var trust: TLSTrust
  package var token: String?
  package var patience = Patience.total(milliseconds: timeoutMilliseconds)
  /// Ends the request from another thread.
  package var cancellation: Cancellation?

  package init(
    url: RelayURL, trust: TLSTrust, token: String? = nil,
    patience: Patience = .total(milliseconds: timeoutMilliseconds),
    cancellation: Cancellation? = nil
  ) {
    self.url = url
    self.trust = trust
    self.token = token
    self.patience = patience
    self.cancellation = cancellation
  }

  /// Sends a request, and returns the relay's answer.
  /// - Parameters:
  ///   - resource: Relative to the relay, such as `v1/sessions`, perhaps with a query.
  ///   - fields: Of the head, besides those that every request has.
  ///   - type: The type of the answer that is wanted.
  ///   - limitBytes: The most that the body of the answer may have.
  package func send(
    _ method: String, _ resource: String, fields: [(String, String)] = [], body: Body = .none,
    accepting type: String, limitBytes: Int
  ) throws(Failure) -> Answer {
    // An eighth more, for the sizes of chunks.
    let most = limitBytes + limitBytes / 8 + AnswerHead.limitBytes
    let head = head(method, resource, fields, body, type)
    return try onEachAddress { connection throws(Failure) in
      var bytes: [UInt8] = []
      try connection.exchange(head, body) { part throws(Failure) in
        bytes += part
        if bytes.count > most { throw .tooLong(limitBytes: limitBytes) }
        return true
      }
      if bytes.isEmpty { throw .connection(.lost(nil)) }
      return try Self.answer(in: bytes, isHead: method == "HEAD", limitBytes: limitBytes)
    }
  }

  /// Requests a resource, and passes the body of the answer on as it arrives.
  /// - Parameter take: Is given the head with each part of the body, of which the first may be empty;
  ///   returns whether more is wanted. An answer that is not whole is a lost connection, after its parts.
  package func fetch(
    _ resource: String, fields: [(String, String)] = [], accepting type: String,
    _ take: (AnswerHead, ArraySlice<UInt8>) throws(Failure) -> Bool
  ) throws(Failure) {
    let head = head("GET", resource, fields, .none, type)
    try onEachAddress { connection throws(Failure) in
      var (front, answer): ([UInt8], AnswerHead?) = ([], nil)
      var left: Int64 = 0
      var isWanted = true
      try connection.exchange(head, .none) { part throws(Failure) in
        if let answer {
          left -= Int64(part.count)
          if left < 0 { throw .notHTTP }
          isWanted = try take(answer, part)
          return isWanted && left > 0
        }
        front += part
        guard let read = try AnswerHead.take(from: &front) else { return true }
        guard read.fields["transfer-encoding"] == nil, read.fields["content-encoding"] == nil,
          let length = read.number("content-length"), length >= front.count
        else { throw .notHTTP }
        answer = read
        left = length - Int64(front.count)
        isWanted = try take(read, front[...])
        return isWanted && left > 0
      }
      if answer == nil { throw front.isEmpty ? .connection(.lost(nil)) : .notHTTP }
      if isWanted, left > 0 { throw .connection(.lost(nil)) }
    }
  }

  /// Another address of the host is tried only where there was no connection: it would give the same
  /// answer.
  private func onEachAddress<Result>(
    _ body: (RelayConnection) throws(Failure) -> Result
  ) throws(Failure) -> Result {
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
        return try body(
          RelayConnection(
            to: address, of: url, trust: trust, patience: patience, cancellation: cancellation))
      } catch {
        guard case .connection = error else { throw error }
        failure = error
      }
    }
    throw failure
  }

  private func head(
    _ method: String, _ resource: String, _ fields: [(String, String)], _ body: Body,
    _ type: String
  ) -> [UInt8] {
    var head = "\(method) \(url.target(of: resource)) HTTP/1.1\r\n"
    head += "Host: \(url.authority)\r\nAccept: \(type)\r\n"
    if let token { head += "Authorization: Bearer \(token)\r\n" }
    for (name, value) in fields { head += "\(name): \(value)\r\n" }
    switch body {
    case .none: if method == "POST" { head += "Content-Length: 0\r\n" }
    case .json(let bytes):
      head += "Content-Type: application/json\r\nContent-Length: \(bytes.count)\r\n"
    case .file(let part, let type):
      head += "Content-Type: \(type)\r\nContent-Length: \(part.count)\r\n"
    }
    return Array("\(head)Connection: close\r\n\r\n".utf8)
  }

  /// Reads an answer whose length is known: by its status, by its head, or by its chunks.
  package static func answer(
    in bytes: [UInt8], isHead: Bool = false, limitBytes: Int
  ) throws(Failure) -> Answer {
    var body = bytes
    guard let head = try AnswerHead.take(from: &body), head.status >= 200 else { throw .notHTTP }
    if isHead { return Answer(head: head, body: []) }
    if let coding = head.folded("transfer-encoding") {
      // With a length as well, it is not clear where the answer ends (RFC 9112 §6.3).
      guard coding == "chunked", head.fields["content-length"] == nil,
        head.fields["content-encoding"] == nil,
        let body = try ChunkedBody.decode(body[...], limitBytes: limitBytes)
      else { throw .notHTTP }
      return Answer(head: head, body: body)
    }
    let length = head.number("content-length") ?? (head.status == 204 ? 0 : -1)
    if length > limitBytes { throw .tooLong(limitBytes: limitBytes) }
    guard head.fields["content-encoding"] == nil, length == body.count else { throw .notHTTP }
    return Answer(head: head, body: body)
  }
}
