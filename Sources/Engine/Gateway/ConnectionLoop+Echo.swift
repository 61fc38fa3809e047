import Relay
import WebSocket

/// `/echo`: sends every message back as one frame. For conformance tests, and for benchmarks of the
/// layers below the relay.
extension ConnectionLoop {
  /// Answers everything that was read in one send. The echo is hardly longer than the input, so one
  /// check of the queued output bounds the queue.
  func takeEchoes(
    _ input: inout MutableSpan<UInt8>, _ offset: inout Int, _ connection: ServerConnection
  ) {
    guard let session = connection.session else { return }
    guard shard.mayReceive(session, now: now) else {
      if shard.hasOutput(session) { countViolation(.queueBytes, by: connection) }
      pause(connection, with: input.span.extracting(offset..<input.count))
      return
    }
    control.removeAll(keepingCapacity: true)
    let end = echo(&input, &offset, connection)
    answer(session, connection)
    switch end {
    case .nothingLeft: break
    case .closedByPeer(let code): beginClosing(session, code, connection)
    case .tooManyControlFrames:
      closeFlooding(connection)
      takeFrames(&input, &offset, connection)
    case .violation(let violation):
      countViolation(violation.rule, by: connection)
      close(connection, violation.closeCode, "\(violation)")
    }
  }

  private enum End {
    case nothingLeft, tooManyControlFrames
    case closedByPeer(CloseCode)
    case violation(ProtocolViolation)
  }

  private func echo(
    _ input: inout MutableSpan<UInt8>, _ offset: inout Int, _ connection: ServerConnection
  ) -> End {
    do throws(ProtocolViolation) {
      while let event = try connection.webSocket.next(
        in: &input, at: &offset, output: &control, maskKey: { 0 })
      {
        switch event {
        case .message(let opcode, .input(let range)):
          echo(opcode, input.span.extracting(range), connection.webSocket)
        case .message(let opcode, .assembled):
          let message = connection.webSocket.assembled
          echo(opcode, message.span, connection.webSocket)
        case .close(let code, _): return .closedByPeer(code)
        case .ping, .pong:
          guard mayTakeControlFrame(connection) else { return .tooManyControlFrames }
        }
      }
      return .nothingLeft
    } catch {
      return .violation(error)
    }
  }

  private func echo(
    _ opcode: Opcode, _ payload: Span<UInt8>, _ webSocket: borrowing WebSocket.Connection
  ) {
    if payload.count < context.compressesFromBytes {
      webSocket.appendMessage(opcode, payload, to: &control, maskKey: 0)
    } else {
      webSocket.appendMessage(
        opcode, payload, compressing: deflateStreams, to: &control, maskKey: 0)
    }
  }

  /// Sends the contents of `control`, at once if nothing is queued: no other output would share the
  /// send.
  private func answer(_ session: SessionID, _ connection: ServerConnection) {
    guard !control.isEmpty else { return }
    guard !shard.hasOutput(session) else {
      shard.append(frames: control, to: session)
      return
    }
    let frames = control
    let taken = write(connection, frames.span)
    if taken < control.count {
      control.removeFirst(taken)
      shard.append(frames: control, to: session)
    }
  }
}
