internal import Mixing
internal import Relay
internal import WebSocket
internal import Wire

/// The client's end of one connection: opening handshake, frames, and queued output.
final class ClientEnd: LinkEnd {
  enum Event {
    case opened
    case message(ServerMessage)
    /// The relay closed the connection, or sent something invalid.
    case closed(CloseCode)
    /// The connection ended without a close.
    case lost
  }

  let link: Link
  let witness: Witness
  private let referee: Referee
  private var handshake: ClientHandshake
  private static let limits = WebSocket.Limits(
    frameBytes: 4 << 20, messageBytes: 4 << 20, fragments: 4096)
  private var webSocket = WebSocket.Connection(role: .client, limits: limits)
  private let deflateStreams = DeflateStreams()
  private var isOpen = false
  private var isOver = false
  /// The part of the answer to the handshake that has arrived.
  private var pending: [UInt8] = []
  var output: [UInt8] = []
  private var keys: SplitMix64
  /// Whether half of the joins carry a `ref`, as half of the other requests do: then each of them is
  /// answered, while `ClientSession` relies on no answer to those that were overtaken.
  var joinsWithRef = false
  /// Whether the client does not read at present.
  var isStopped = false

  init(_ link: Link, _ referee: Referee, epoch: String, compresses: Bool, seed: UInt64) {
    self.link = link
    self.referee = referee
    witness = Witness(referee, link, epoch: epoch)
    keys = SplitMix64(seed: seed)
    var keys = keys
    let nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &keys) }
    handshake = ClientHandshake(
      host: "relay:8080", target: link.kind == .anonymous ? "/ws" : "/ws?\(link.query)",
      subprotocols: ["relay.v1"], deflate: compresses ? DeflateParameters.clientOffers : [],
      nonce: nonce)
    output = handshake.request
  }

  // MARK: - Output

  func send(_ message: ClientMessage) {
    guard isOpen, !isOver else { return }
    var json = message.json
    if mayCarryRef(message), keys.next() & 1 == 0 {
      json.removeLast()
      json += Array(#","ref":"\#(witness.open(message))"}"#.utf8)
    }
    referee.trace { "\(self.link.number) → \(String(decoding: json.prefix(200), as: UTF8.self))" }
    witness.recordSent(message)
    // Some messages are fragmented, as a proxy may do.
    webSocket.appendMessage(
      .text, json.span, compressing: deflateStreams, to: &output,
      maskKey: UInt32(truncatingIfNeeded: keys.next()))
  }

  private func mayCarryRef(_ message: ClientMessage) -> Bool {
    switch message {
    case .join, .joinRooms: joinsWithRef
    case .auth: false
    default: true
    }
  }

  /// Sends bytes that need not be a message. If they are one, it may become an entry.
  func send(raw json: [UInt8]) {
    guard isOpen, !isOver else { return }
    referee.trace { "\(self.link.number) → \(String(decoding: json.prefix(200), as: UTF8.self))" }
    if case .send(let send) = try? ClientMessage(decoding: json.span, textLimitBytes: 0) {
      referee.recordSent(send, by: link.user)
    }
    webSocket.appendMessage(
      .text, json.span, compressing: deflateStreams, to: &output,
      maskKey: UInt32(truncatingIfNeeded: keys.next()))
  }

  func ping() {
    if isOpen {
      webSocket.appendPing(to: &output, maskKey: UInt32(truncatingIfNeeded: keys.next()))
    }
  }

  func close(_ code: CloseCode) {
    guard isOpen else { return }
    webSocket.close(code, to: &output, maskKey: UInt32(truncatingIfNeeded: keys.next()))
  }

  // MARK: - Input

  func receive(limit: Int, now: Int64) -> [Event] {
    guard !isOver, !isStopped else { return [] }
    var events: [Event] = []
    var bytes = link.toClient.read(limit)
    if !isOpen {
      pending.append(contentsOf: bytes)
      do throws(HandshakeFailure) {
        guard let answer = try handshake.read(pending.span, headerLimitBytes: 8192) else {
          return ending(now, events)
        }
        webSocket = WebSocket.Connection(
          role: .client, limits: Self.limits, deflate: answer.deflate,
          sharing: deflateStreams)
        if answer.deflate != nil { referee.tally.count(.compressed) }
        bytes = Array(pending.dropFirst(answer.length))
        pending = []
        isOpen = true
        events.append(.opened)
      } catch {
        referee.fault("connection \(link.number): \(error)")
        isOver = true
        return [.lost]
      }
    }
    take(bytes, &events)
    return ending(now, events)
  }

  private func take(_ bytes: [UInt8], _ events: inout [Event]) {
    var bytes = bytes
    var input = bytes.mutableSpan
    var offset = 0
    do {
      while let event = try webSocket.next(
        in: &input, at: &offset, output: &output,
        maskKey: { UInt32(truncatingIfNeeded: keys.next()) })
      {
        switch event {
        case .message(_, .input(let range)): take(input.span.extracting(range), &events)
        case .message(_, .assembled):
          let message = webSocket.assembled
          take(message.span, &events)
        case .close(let code, _):
          witness.recordClose()
          isOver = true
          events.append(.closed(code))
          return
        case .ping: if link.kind == .honest { referee.tally.count(.pinged) }
        case .pong: break
        }
      }
    } catch {
      referee.fault("connection \(link.number): the relay violated RFC 6455: \(error)")
      isOver = true
      events.append(.lost)
    }
  }

  private func take(_ json: Span<UInt8>, _ events: inout [Event]) {
    do throws(UndecodableMessage) {
      referee.digest(json)
      referee.longestMessageBytes = max(referee.longestMessageBytes, json.count)
      let message = try ServerMessage(decoding: json)
      referee.trace {
        "\(self.link.number) ← \(String(decoding: message.json.prefix(200), as: UTF8.self))"
      }
      witness.take(message, ref: ServerMessage.ref(in: json))
      events.append(.message(message))
    } catch {
      referee.fault("connection \(link.number): not a message: \(error)")
    }
  }

  private func ending(_ now: Int64, _ events: [Event]) -> [Event] {
    guard !isOver, let end = link.toClient.ending(now: now) else { return events }
    isOver = true
    if case .lost = end, webSocket.isAmidFrame { referee.tally.count(.frameCut) }
    return events + [.lost]
  }

  var hasSomethingToRead: Bool { !isOver && !isStopped && !link.toClient.arrived.isEmpty }
}
