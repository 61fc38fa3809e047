import Client
import Wire

/// Files that are sent: each is a message that waits until the relay has its bytes. What is sent in the
/// conversation after it waits for it, until it is uploaded, has failed or is given up.
extension Chat {
  /// The most files of a command: as many uploads as a relay takes of a user by default.
  static let filesLimit = 20

  /// The message that a file replies to if it is sent now.
  private var fileTarget: Int64? {
    if case .reply = composition { compositionTarget } else { nil }
  }

  /// Performs `/send FILE… [-- CAPTION]`.
  mutating func sendFiles(_ argument: String, _ effects: inout [Effect]) {
    let all = ShellWords(argument).words
    let end = all.firstIndex { $0.text == "--" && !$0.isQuoted } ?? all.count
    let words = all[..<end]
    guard !words.isEmpty else {
      return complain("A file is missing: write /send report.pdf.")
    }
    guard !words.contains(where: \.isOpen) else {
      return complain("A quote or a backslash is not complete: write /send 'annual report.pdf'.")
    }
    guard words.count <= Self.filesLimit else {
      return complain(
        "These are \(words.count) files; at most \(Self.filesLimit) are sent at once.")
    }
    var caption: String?
    if end < all.count {
      let rest = Self.trimmed(String(argument.dropFirst(all[end].range.upperBound)))
      let text = String(rest.drop(while: \.isWhitespace))
      if !text.isEmpty { caption = text }
    }
    effects.append(
      .findFiles(
        .init(
          purpose: .command(caption: caption), paths: words.map(\.text), replyTo: fileTarget)))
  }

  /// Whether a paste may be a file that was dropped on the terminal: then the driver is asked.
  func droppedPath(in paste: String) -> String? {
    let words = ShellWords(paste).words
    guard composition == .new, composer.isBlank, words.count == 1, !words[0].isOpen,
      words[0].text.hasPrefix("/"), words[0].text.count > 1
    else { return nil }
    return words[0].text
  }

  /// Takes the files that a command or a paste names.
  /// - Parameter problem: Why they cannot be sent.
  mutating func take(
    _ files: [ChosenFile], for choice: FileChoice, problem: String?, _ effects: inout [Effect]
  ) {
    switch choice.purpose {
    case .paste(let text):
      guard problem == nil, let file = files.first else { return insert(text, &effects) }
      overlay = .confirmSending(file, pasted: text)
    case .command(let caption):
      if let problem { return complain(problem) }
      guard !hasTooLarge(files) else { return }
      if let room = timeline?.room { written.recordSent(Self.trimmed(composer.text), in: room) }
      clearComposer(&effects)
      send(files, caption: caption, replyTo: choice.replyTo, &effects)
    }
  }

  private mutating func hasTooLarge(_ files: [ChosenFile]) -> Bool {
    guard let limit = fileLimitBytes, let file = files.first(where: { $0.sizeBytes > limit })
    else { return false }
    complain(
      "\(file.name) has \(FileSize.rounded(file.sizeBytes)); the relay takes files of at most"
        + " \(FileSize.rounded(limit)).")
    return true
  }

  /// Sends files in their order; the first one is the reply, and the caption is that of the last.
  mutating func send(
    _ files: [ChosenFile], caption: String?, replyTo: Int64?, _ effects: inout [Effect]
  ) {
    guard let room = timeline?.room, !hasTooLarge(files) else { return }
    for (index, file) in files.enumerated() {
      let content = FileContent(
        id: "", name: file.name, caption: index == files.count - 1 ? caption : nil,
        replyTo: index == 0 ? replyTo : nil)
      var line = Outgoing(send: .init(room: room, id: nextID(), file: content), at: now)
      line.upload = Upload(file)
      keep(line, &effects)
      add(line, &effects)
    }
    beginUpload(in: room, &effects)
  }

  private func keep(_ line: Outgoing, _ effects: inout [Effect]) {
    guard let file = line.upload?.file, let content = line.send.asEntry.file else { return }
    effects.append(
      .keepUpload(file, content, id: line.send.id, room: line.send.room, at: line.at))
  }

  /// Whether what is sent in a room waits for a file.
  func isUploading(in room: String) -> Bool {
    outgoing.contains { $0.send.room == room && $0.isUploading }
  }

  private mutating func beginUpload(in room: String, _ effects: inout [Effect]) {
    guard let place = outgoing.firstIndex(where: { $0.send.room == room && $0.isUploading }),
      let upload = outgoing[place].upload, !upload.isBegun
    else { return }
    outgoing[place].upload?.isBegun = true
    effects.append(
      .upload(
        upload.file, id: outgoing[place].send.id, room: room, continuing: upload.continued))
  }

  /// Sends what has waited for a file that is no longer on its way, up to the next file.
  private mutating func sendHeld(in room: String, _ effects: inout [Effect]) {
    for index in outgoing.indices where outgoing[index].send.room == room {
      if outgoing[index].isUploading { break }
      guard outgoing[index].isHeld else { continue }
      outgoing[index].isHeld = false
      effects.append(.sendHeld(outgoing[index].send))
    }
    beginUpload(in: room, &effects)
  }

  /// Goes on with the uploads of an earlier run.
  mutating func resumeUploads(_ effects: inout [Effect]) {
    for line in outgoing where line.isUploading { beginUpload(in: line.send.room, &effects) }
  }

  // MARK: How an upload goes on

  mutating func take(_ news: Upload.News, ofUpload id: String, _ effects: inout [Effect]) {
    guard let place = outgoing.firstIndex(where: { $0.send.id == id && $0.isUploading }) else {
      return
    }
    let room = outgoing[place].send.room
    switch news {
    case .progressed(let bytes):
      outgoing[place].upload?.sentBytes = bytes
      outgoing[place].upload?.problem = nil
    case .waiting(let reason): outgoing[place].upload?.problem = reason
    case .kept: outgoing[place].upload?.isKept = true
    case .uploaded(let file):
      outgoing[place].upload = nil
      guard var content = outgoing[place].send.asEntry.file else { return }
      content.id = file
      outgoing[place].send = .init(room: room, id: id, file: content)
      effects.append(.send(outgoing[place].send, at: outgoing[place].at))
    case .failed(let reason):
      outgoing[place].upload?.isBegun = false
      refuse(place, Self.sentence(reason))
    }
    showText(of: outgoing[place])
    if !outgoing[place].isUploading { sendHeld(in: room, &effects) }
  }

  private static func sentence(_ reason: String) -> String {
    reason.prefix(1).uppercased() + reason.dropFirst()
  }

  private mutating func showText(of line: Outgoing) {
    guard let user else { return }
    let text = shown(line)
    guard timeline?.room == line.send.room,
      let index = timeline?.index(of: .init(from: user, id: line.send.id))
    else { return }
    timeline?.messages[index].text = text
  }

  /// Uploads a file that has failed again, from its start.
  mutating func retryUpload(_ place: Int, _ effects: inout [Effect]) {
    outgoing[place].upload?.problem = nil
    outgoing[place].upload?.continued = nil
    keep(outgoing[place], &effects)
    showText(of: outgoing[place])
    beginUpload(in: outgoing[place].send.room, &effects)
  }

  /// Gives up a file that is not sent yet.
  /// - Returns: Whether there was one.
  mutating func cancelUpload(_ key: Message.Key, _ effects: inout [Effect]) -> Bool {
    guard let place = outgoing.firstIndex(where: { $0.send.id == key.id && $0.upload != nil })
    else { return false }
    let line = removeOutgoing(at: place, key)
    effects.append(.cancelUpload(id: key.id))
    sendHeld(in: line.send.room, &effects)
    enter(.composer)
    return true
  }

  /// Returns the text of a message that is not acknowledged: of a file, its name and progress too.
  func shown(_ line: Outgoing) -> String {
    let entry = line.send.asEntry
    guard let file = entry.file else {
      return entry.text ?? forwarded[line.send.id]?.text ?? ""
    }
    let label = line.isUploading ? line.upload?.label ?? file.label : file.label
    return [label, file.caption].compactMap { $0 }.joined(separator: "\n")
  }
}
