import Client
import Emojis
import Wire

/// Outgoing messages, and the relay's answers to them.
extension Chat {
  mutating func nextID() -> String {
    idCount += 1
    return "\(idPrefix)-\(idCount)"
  }

  /// Sends the composer's text.
  mutating func sendComposed(_ effects: inout [Effect]) {
    guard let room = timeline?.room else { return complain("Choose a conversation first.") }
    guard user != nil else {
      return complain("Your user name is not known yet. Send again once you are connected.")
    }
    var text = Self.trimmed(composer.text)
    var isEdit = false
    if case .edit = composition { isEdit = true }
    // An edit is of a message, and so is text.
    switch isEdit ? .text(text) : SlashCommand.read(text) {
    case .text(let unescaped): text = unescaped
    // A file may be the reply, and a report about the message that it is to.
    case .command(let command, let argument)
    where composition == .new || command.isForReplies:
      return perform(command, argument, &effects)
    case .command(let command, _):
      return complain(
        "/\(command.names[0]) is a command, and was not sent: begin with // to send it as text, or"
          + " end the reply first.")
    case .unknown(let name):
      return complain(
        "\(name) is no command: /help shows them. Write /\(name) to send it as text.")
    }
    text = Emoji.replacingCodes(in: text)
    if composer.isBlank {
      if case .edit(let key) = composition { overlay = .confirmDeletion(key) }
      return
    }
    if textLimitBytes > 0, text.utf8.count > textLimitBytes {
      return complain(
        "The text has \(text.utf8.count) bytes; the relay's limit is \(textLimitBytes). Send it in parts."
      )
    }
    let send: ClientMessage.Send
    switch composition {
    case .new:
      send = .init(room: room, id: nextID(), text: text)
    case .reply:
      send = .init(room: room, id: nextID(), text: text, replyTo: compositionTarget)
    case .edit(let key):
      guard let target = compositionTarget, timeline?.message(key)?.text != text else {
        return endEditing()
      }
      send = .init(room: room, id: nextID(), edit: target, text: text)
    }
    if isEdit {
      endEditing()
    } else {
      endComposition()
      endDraft(of: room, isSent: true, &effects)
    }
    stopTyping(&effects)
    self.send(send, &effects)
  }

  /// Removes blank lines before the text and white space after it: a pasted line ends with a line
  /// break.
  static func trimmed(_ text: String) -> String {
    var text = text[...]
    while let last = text.last, last.isWhitespace { text.removeLast() }
    while let end = text.firstIndex(where: \.isNewline), text[..<end].allSatisfy(\.isWhitespace) {
      text = text[text.index(after: end)...]
    }
    return String(text)
  }

  /// Sends a message, which is displayed at once.
  mutating func send(_ send: ClientMessage.Send, _ effects: inout [Effect]) {
    var line = Outgoing(send: send, at: now)
    line.isHeld = send.kind.isContent && isUploading(in: send.room)
    effects.append(line.isHeld ? .hold(send, at: now) : .send(send, at: now))
    add(line, &effects)
  }

  /// Displays a message that is sent, perhaps later.
  mutating func add(_ line: Outgoing, _ effects: inout [Effect]) {
    let send = line.send
    outgoing.append(line)
    if timeline?.room == send.room {
      if send.kind.isContent {
        timeline?.unreadAfter = nil
        showNewest(&effects)
      }
      show(line, &effects)
    }
    if send.kind.isContent {
      showLast(line)
      effects.append(.sound(.sent))
    }
    effects.append(.save(send.room))
    isListStale = true
  }

  /// Displays an unacknowledged message in the open conversation.
  mutating func show(_ line: Outgoing, _ effects: inout [Effect]) {
    guard let user, timeline?.room == line.send.room else { return }
    guard line.send.kind.isContent else {
      if line.refusal != nil { return }
      for index in timeline?.messages.indices ?? 0..<0 {
        let seq = timeline?.messages[index].seq
        timeline?.messages[index].applyOutgoing(line.send, of: seq, by: user)
      }
      return
    }
    let key = Message.Key(from: user, id: line.send.id)
    if timeline?.index(of: key) != nil { return }
    let message = message(line, key)
    timeline?.messages.append(message)
    if let quote = timeline?.messages.last?.quote, quote.from == nil {
      effects.append(.quote(room: line.send.room, seq: quote.seq))
    }
  }

  private func message(_ line: Outgoing, _ key: Message.Key) -> Message {
    let entry = line.send.asEntry
    var message = Message(
      key: key, seq: nil, at: line.at, text: shown(line), isOwn: true)
    message.file = entry.file
    if let reply = entry.replyTo { message.quote = timeline?.quote(reply) }
    if let forward = entry.forward {
      // The relay copies text and sender from the original; until then the local copy is displayed.
      let original = forwarded[line.send.id]
      message.forwardedFrom =
        original?.forwardedFrom ?? original?.from ?? forward.from ?? forward.room
    }
    message.state = line.refusal.map { .failed($0) } ?? .waiting
    return message
  }

  mutating func showLast(_ line: Outgoing) {
    let text = shown(line)
    conversations[line.send.room]?.last = .init(
      seq: 0, from: user ?? "", text: text.isEmpty ? "…" : text, at: line.at,
      state: line.refusal.map { .failed($0) } ?? .waiting)
    isListStale = true
  }

  /// Whether it is the message that the list displays as the last one.
  private func isPreview(_ place: Int) -> Bool {
    let room = outgoing[place].send.room
    return conversations[room]?.last?.seq == 0
      && place == outgoing.lastIndex { $0.send.room == room && $0.send.kind.isContent }
  }

  // MARK: Answers

  mutating func acknowledged(_ ack: ServerMessage.Ack, _ effects: inout [Effect]) {
    if changed(ack, &effects) { return }
    guard let place = outgoing.firstIndex(where: { $0.send.id == ack.id }) else { return }
    let isPreview = isPreview(place)
    outgoing.remove(at: place)
    set(.notStored, nil)
    forwarded[ack.id] = nil
    if isPreview {
      conversations[ack.room]?.last?.seq = ack.seq
      conversations[ack.room]?.last?.at = ack.at
      conversations[ack.room]?.last?.state = .sent
    }
    conversations[ack.room]?.isMember = true
    if conversations[ack.room]?.isJoined == false {
      effects.append(.join(ack.room, head: nil))
    }
    guard let user, timeline?.room == ack.room,
      let index = timeline?.index(of: .init(from: user, id: ack.id)),
      var message = timeline?.messages[index], message.seq == nil
    else { return }
    message.seq = ack.seq
    message.at = ack.at
    message.state = .sent
    timeline?.messages.remove(at: index)
    timeline?.insert(message)
    updateStates()
  }

  mutating func refused(
    _ send: ClientMessage.Send, _ error: WireError, _ effects: inout [Effect]
  ) {
    if changeRefused(send, error) { return }
    let reason = describe(error)
    guard let place = outgoing.firstIndex(where: { $0.send.id == send.id }) else { return }
    if send.kind.isContent {
      refuse(place, reason)
    } else {
      // It was displayed already; restores the previous state.
      outgoing.remove(at: place)
      effects.append(.discard(room: send.room, id: send.id))
      complain(reason)
      if timeline?.room == send.room { effects.append(.load(room: send.room, before: nil)) }
    }
  }

  /// Shows that a message is not sent, and why.
  mutating func refuse(_ place: Int, _ reason: String) {
    let send = outgoing[place].send
    outgoing[place].refusal = reason
    if isPreview(place) { conversations[send.room]?.last?.state = .failed(reason) }
    guard let user, let index = timeline?.index(of: .init(from: user, id: send.id)) else { return }
    // After an `idConflict` the message may be the one that has the id.
    if timeline?.messages[index].seq != nil { return complain(reason) }
    timeline?.messages[index].state = .failed(reason)
  }

  mutating func retry(_ key: Message.Key, _ effects: inout [Effect]) {
    guard let place = outgoing.firstIndex(where: { $0.send.id == key.id && $0.refusal != nil })
    else { return }
    outgoing[place].refusal = nil
    let room = outgoing[place].send.room
    if isPreview(place) { conversations[room]?.last?.state = .waiting }
    if let index = timeline?.index(of: key) { timeline?.messages[index].state = .waiting }
    if outgoing[place].upload != nil { return retryUpload(place, &effects) }
    effects.append(.retry(outgoing[place].send))
  }

  mutating func discard(_ key: Message.Key, _ effects: inout [Effect]) {
    guard let place = outgoing.firstIndex(where: { $0.send.id == key.id && $0.refusal != nil })
    else { return }
    let line = removeOutgoing(at: place, key)
    effects.append(.discard(room: line.send.room, id: key.id))
  }

  /// Removes a message that will not be sent.
  mutating func removeOutgoing(at place: Int, _ key: Message.Key) -> Outgoing {
    let isPreview = isPreview(place)
    let line = outgoing.remove(at: place)
    forwarded[key.id] = nil
    timeline?.messages.removeAll { $0.key == key }
    if timeline?.selected == key { timeline?.selected = nil }
    let room = line.send.room
    if isPreview {
      let newest = timeline?.room == room ? timeline?.messages.last { !$0.isNotice } : nil
      conversations[room]?.last = newest.map {
        .init(seq: $0.seq ?? 0, from: $0.from, text: $0.text, at: $0.at, state: $0.state)
      }
    }
    return line
  }

  // MARK: The composer's text

  mutating func endComposition() {
    composer = TextEditor()
    recall = nil
    composition = .new
    completion = nil
  }

  /// Restores the text that was being written before.
  mutating func endEditing() {
    endComposition()
    composer = TextEditor(open?.draft ?? "")
  }

  /// Sends a typing notice, at most one every three seconds.
  mutating func recordTyping(_ effects: inout [Effect]) {
    guard let room = timeline?.room, isLive, conversations[room]?.isJoined == true else { return }
    var isEdit = false
    if case .edit = composition { isEdit = true }
    let isCommand = !isEdit && composer.lines[0].first == "/"
    if composer.isEmpty || isCommand { return stopTyping(&effects) }
    guard now - times.typed >= 3000 else { return }
    times.typed = now
    effects.append(.request(.typing(room: room, on: true)))
  }

  mutating func stopTyping(_ effects: inout [Effect]) {
    guard let room = timeline?.room, isLive, times.typed > 0 else { return }
    times.typed = 0
    if conversations[room]?.isJoined == true {
      effects.append(.request(.typing(room: room, on: false)))
    }
  }
}
