import EventLoop
import Relay
import TLS
import WebSocket

/// Between sockets and the rest where a connection is encrypted.
extension ConnectionLoop {
  /// As `read`, with a session in between: plaintext lies at the front of the read buffer as if it
  /// had been read. All ciphertext that was read is decrypted here and now, so that nothing waits
  /// where epoll cannot see it.
  func read(_ index: Int, through tls: TLSChannel) {
    // It said so before (`close_notify`, RFC 8446 §6.1), while there was an answer to wait for.
    guard tls.session.state != .ended || connections[index].phase == .lingering else {
      endInput(index)
      return
    }
    var whole = unsafe MutableSpan(_unsafeElements: readBuffer)
    let start = TLSSession.headroomBytes
    var back = whole._mutatingExtracting(start..<Self.readBytes)
    let result = connections[index].socket.read(into: &back)
    switch result {
    case .bytes(let count):
      heard(index, count, of: Self.readBytes - start)
      // Only its end is waited for.
      if connections[index].phase == .lingering { return }
      ciphertext.removeAll(keepingCapacity: true)
      let plaintext = tls.session.receive(
        in: &whole, ciphertext: start..<start + count, output: &ciphertext)
      guard sendCiphertext(index, tls) else {
        remove(index)
        return
      }
      if plaintext > 0 { takeRead(plaintext, index) }
      // What was taken may have ended the connection.
      guard connections[index].tls === tls, connections[index].phase != .lingering else { return }
      switch tls.session.state {
      case .handshaking, .open: break
      case .ended: endInput(index)
      case .failed(.plainHTTP):
        let response = HTTPResponse(
          status: 400, text: "This port speaks TLS: use wss:// or https:// to reach it.\n")
        _ = connections[index].socket.send(response.bytes.span)
        linger(index)
      case .failed: linger(index)
      }
    case .wouldBlock: connections[index].isReadable = false
    case .end: endInput(index)
    case .failed: remove(index)
    }
  }

  /// As `write`: encrypts and sends a record at a time until the socket blocks. What it has not taken
  /// of the last record is kept, since a record cannot be encrypted twice; it counts as taken.
  func write(_ index: Int, _ bytes: Span<UInt8>, through tls: TLSChannel) -> Int {
    if tls.hasBacklog {
      if !sendBacklog(index, tls) { failed.append(Int32(index)) }
      if tls.hasBacklog { return 0 }
    }
    var taken = 0
    while taken < bytes.count, !tls.hasBacklog {
      ciphertext.removeAll(keepingCapacity: true)
      let count = tls.session.send(bytes.extracting(taken...), output: &ciphertext)
      guard count > 0, sendCiphertext(index, tls) else {
        failed.append(Int32(index))
        return taken
      }
      taken += count
    }
    if connections[index].phase == .closing, taken == bytes.count, !tls.hasBacklog {
      toSettle.append(Int32(index))
    }
    return taken
  }

  /// Sends what the socket has not taken before; `false` if the connection is gone.
  @discardableResult
  func sendBacklog(_ index: Int, _ tls: TLSChannel) -> Bool {
    ciphertext.removeAll(keepingCapacity: true)
    guard sendCiphertext(index, tls) else { return false }
    if connections[index].phase == .closing, !tls.hasBacklog { toSettle.append(Int32(index)) }
    return true
  }

  /// Tells the peer that nothing more comes; what it says from now on is not decrypted any more.
  func sayGoodbye(_ index: Int, _ tls: TLSChannel) {
    ciphertext.removeAll(keepingCapacity: true)
    tls.session.close(output: &ciphertext)
    _ = sendCiphertext(index, tls)
  }

  /// `false` if the connection is gone, or its peer makes us talk and does not listen.
  private func sendCiphertext(_ index: Int, _ tls: TLSChannel) -> Bool {
    guard tls.hasBacklog || !ciphertext.isEmpty else { return true }
    guard let progress = tls.send(ciphertext, to: connections[index].socket) else { return false }
    if progress { connections[index].takenAt = now.monotonic }
    return tls.backlogBytes <= TLSChannel.backlogLimitBytes
  }
}
