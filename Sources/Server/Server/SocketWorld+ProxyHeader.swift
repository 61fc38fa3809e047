import Gateway
import Logging
import Platform
import Relay
import WebSocket

/// Headers of the PROXY protocol, which come before TLS and HTTP.
extension SocketWorld {
  /// Reads what has arrived of a header, and nothing of what follows it.
  /// - Parameter earlier: what was read of it before.
  func readHeader(
    of stream: Int, after earlier: [UInt8], _ socket: BorrowedSocket,
    into buffer: inout MutableSpan<UInt8>
  ) -> StreamRead {
    var front = buffer._mutatingExtracting(..<ProxyHeader.limitBytes)
    switch socket.peek(into: &front) {
    case .wouldBlock: return .wouldBlock
    case .end: return .end
    case .failed: return .reset
    case .bytes(let count):
      var bytes = earlier
      for index in 0..<count { bytes.append(front[index]) }
      do throws(ProxyHeader.Violation) {
        guard let header = try ProxyHeader.read(bytes) else {
          headers[stream] = bytes
          discard(count, from: socket, into: &front)
          return .bytes(0, received: count, mayHaveMore: false)
        }
        headers[stream] = nil
        let rest = header.length - earlier.count
        discard(rest, from: socket, into: &front)
        return .client(header.client.map(shared.proxies.hop), received: rest)
      } catch {
        refuse(socket, error)
        return .unnamedClient(
          because:
            "The header cannot be used: \(error). Let the proxy send one, or set proxy_protocol: false."
        )
      }
    }
  }

  /// Reads bytes that were looked at before, and are in the socket.
  private func discard(
    _ count: Int, from socket: BorrowedSocket, into buffer: inout MutableSpan<UInt8>
  ) {
    var bytes = buffer._mutatingExtracting(..<count)
    _ = socket.read(into: &bytes)
  }

  /// Tells the peer that its header cannot be used.
  private func refuse(_ socket: BorrowedSocket, _ violation: ProxyHeader.Violation) {
    guard shared.credentials == nil else { return }
    let response = HTTPResponse(
      status: 400,
      text: "Connections to this port begin with a header of the PROXY protocol: \(violation).\n")
    _ = socket.send(response.bytes.span)
  }
}
