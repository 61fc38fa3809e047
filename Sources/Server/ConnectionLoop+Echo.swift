import Relay
import WebSocket

/// `/echo`: every message comes back as one frame. For conformance tests, and for benchmarks of all
/// that lies below the relay.
extension ConnectionLoop {
  /// Answers everything that was read by one send. What comes back is hardly longer than what
  /// came, so looking once at what is still queued bounds the queue.
  func takeEchoes(_ input: inout MutableSpan<UInt8>, _ offset: inout Int, _ index: Int) {
    guard let session = connections[index].session else { return }
    guard shard.mayReceive(session) else {
      pause(index, with: input.span.extracting(offset..<input.count))
      return
    }
    control.removeAll(keepingCapacity: true)
    do throws(ProtocolViolation) {
      while let event = try connections[index].webSocket.next(
        in: &input, at: &offset, output: &control, maskKey: { 0 })
      {
        switch event {
        case .message(let opcode, .input(let range)):
          WebSocket.Connection.appendMessage(
            opcode, input.span.extracting(range), to: &control)
        case .message(let opcode, .assembled):
          let message = connections[index].webSocket.assembled
          WebSocket.Connection.appendMessage(opcode, message.span, to: &control)
        case .close:
          answer(session, index)
          control.removeAll(keepingCapacity: true)
          beginClosing(session, index)
        case .ping, .pong: break
        }
      }
      answer(session, index)
    } catch {
      answer(session, index)
      close(index, error.closeCode, "\(error)")
    }
  }

  /// Sends what is in `control`: here and now if nothing is queued, since an echo gets nothing from
  /// elsewhere that it could share a send with.
  private func answer(_ session: SessionID, _ index: Int) {
    guard !control.isEmpty else { return }
    guard !shard.hasOutput(session) else {
      shard.append(frames: control, to: session)
      return
    }
    let taken = write(index, control.span)
    if taken < control.count {
      control.removeFirst(taken)
      shard.append(frames: control, to: session)
    }
  }
}
