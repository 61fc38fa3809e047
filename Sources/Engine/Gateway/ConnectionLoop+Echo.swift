import Relay
import WebSocket

/// `/echo`: sends every message back as one frame. For conformance tests, and for benchmarks of the
/// layers below the relay.
extension ConnectionLoop {
  /// Answers everything that was read in one send. The echo is hardly longer than the input, so one
  /// check of the queued output bounds the queue.
  func takeEchoes(_ input: inout MutableSpan<UInt8>, _ offset: inout Int, _ index: ConnectionSlot) {
    guard let session = connections[index].session else { return }
    guard shard.mayReceive(session, now: now) else {
      if shard.hasOutput(session) { context.violations.count(.queueBytes) }
      pause(index, with: input.span.extracting(offset..<input.count))
      return
    }
    // Moved out of the table meanwhile, because otherwise each frame would look it up again.
    var webSocket = WebSocket.Connection(role: .server, limits: webSocketLimits)
    var output: [UInt8] = []
    swap(&webSocket, &connections[index].webSocket)
    swap(&output, &control)
    output.removeAll(keepingCapacity: true)
    let end = echo(&input, &offset, &webSocket, &output, index)
    swap(&output, &control)
    swap(&webSocket, &connections[index].webSocket)
    answer(session, index)
    switch end {
    case .nothingLeft: break
    case .closedByPeer: beginClosing(session, index)
    case .tooManyControlFrames:
      closeFlooding(index)
      takeFrames(&input, &offset, index)
    case .violation(let violation):
      context.violations.count(violation.rule)
      close(index, violation.closeCode, "\(violation)")
    }
  }

  private enum End {
    case nothingLeft, closedByPeer, tooManyControlFrames
    case violation(ProtocolViolation)
  }

  private func echo(
    _ input: inout MutableSpan<UInt8>, _ offset: inout Int,
    _ webSocket: inout WebSocket.Connection, _ output: inout [UInt8], _ index: ConnectionSlot
  ) -> End {
    do throws(ProtocolViolation) {
      while let event = try webSocket.next(
        in: &input, at: &offset, output: &output, maskKey: { 0 })
      {
        switch event {
        case .message(let opcode, .input(let range)):
          echo(opcode, input.span.extracting(range), webSocket, &output)
        case .message(let opcode, .assembled):
          echo(opcode, webSocket.assembled.span, webSocket, &output)
        case .close: return .closedByPeer
        case .ping, .pong: guard mayTakeControlFrame(index) else { return .tooManyControlFrames }
        }
      }
      return .nothingLeft
    } catch {
      return .violation(error)
    }
  }

  private func echo(
    _ opcode: Opcode, _ payload: Span<UInt8>, _ webSocket: borrowing WebSocket.Connection,
    _ output: inout [UInt8]
  ) {
    if payload.count < context.compressesFromBytes {
      webSocket.appendMessage(opcode, payload, to: &output, maskKey: 0)
    } else {
      webSocket.appendMessage(
        opcode, payload, compressing: deflateStreams, to: &output, maskKey: 0)
    }
  }

  /// Sends the contents of `control`, at once if nothing is queued: no other output would share the
  /// send.
  private func answer(_ session: SessionID, _ index: ConnectionSlot) {
    guard !control.isEmpty else { return }
    guard !shard.hasOutput(session) else {
      shard.append(frames: control, to: session)
      return
    }
    let frames = control
    let taken = write(index, frames.span)
    if taken < control.count {
      control.removeFirst(taken)
      shard.append(frames: control, to: session)
    }
  }
}
