import Client
import EventLoop
import TLS
import Wire

/// What the relay sends.
extension LineChat: ClientHandler {
  func client(_ client: Client, received json: Span<UInt8>) {
    guard options.printsJSON, exitCode == nil else { return }
    if case .history(let page) = try? ServerMessage(decoding: json) {
      for entry in page.entries {
        var json: [UInt8] = []
        entry.append(to: &json)
        printJSON(json)
      }
      return
    }
    unsafe json.withUnsafeBufferPointer { unsafe printJSON($0) }
  }

  func client(_ client: Client, _ event: ClientEvent) {
    if case .ended(let error) = event { return ended(error) }
    if exitCode != nil { return }
    switch event {
    case .welcomed(let welcome): welcomed(welcome)
    case .joined(let joined): self.joined(joined)
    case .joinRefused(let room, let error):
      complain("room \(room): \(error.message)")
      finish(Self.accessDenied)
    case .left(let room, let departure):
      let why = departure.map { departure in
        let what =
          departure.role == .banned ? "banned" : departure.role == nil ? "closed" : "removed"
        return "\(what) by \(departure.by)\(departure.reason.map { ": \($0)" } ?? "")"
      }
      complain("no longer in room \(room)\((why ?? parting).map { ": \($0)" } ?? "")")
      parting = nil
      finish(Self.accessDenied)
    case .entry(let entry): show(entry)
    case .acknowledged(let ack):
      if completeFile(ack.id, nil) || completeLine(ack.id) != nil {
        if ack.room == room { echoEnd = max(echoEnd, ack.seq) } else { sayWhatWasMade(ack) }
      }
      readInput()
      finishIfDone()
    case .refused(let send, let error):
      if !completeFile(send.id, error), let number = completeLine(send.id) {
        refuse(number, error.message)
      }
      readInput()
      finishIfDone()
    case .message(.people(let page)): continueSearch(with: page)
    case .message(.error(let error)) where error.re == .people: searchFailed(error)
    case .answered(let ref): answered(ref, nil)
    case .message(.error(let error)) where error.ref != nil: answered(error.ref ?? "", error)
    case .message(.error(let error)) where error.id == nil: report(error)
    case .message: break
    case .tokenWanted(let refused):
      isLockedOut = refused != nil
      parting = nil
      if let refused { warn("\(refused) (running --token-command for a new one)") }
      renewal?.begin()
    case .disconnected(let error, retryMilliseconds: _):
      for ref in asked.keys { answered(ref, nil, isLost: true) }
      let complaint = reason(of: error)
      if complaint != lastConnectionError { warn("\(complaint); retrying") }
      lastConnectionError = complaint
    case .ended: break
    }
  }

  func use(_ result: TokenRenewal.Outcome) {
    guard exitCode == nil else { return }
    switch result {
    case .success(let token):
      isLockedOut = false
      recordProgress()
      client.renew(token: token)
    case .failure(let failure):
      complain("\(failure)")
      if isLockedOut { finish(Self.accessDenied) }
    }
  }

  private func welcomed(_ welcome: ServerMessage.Welcome) {
    lastConnectionError = ""
    recordProgress()
    guard !wasWelcomed else {
      // The answer to a request is lost with its connection.
      if let search { self.search(for: search.name) }
      return
    }
    wasWelcomed = true
    ownName = welcome.user
    open(options.room, as: welcome.user)
  }

  func join(_ name: String) {
    room = name
    client.join(name, from: options.historyCount > 0 ? .newest(options.historyCount) : .head)
  }

  /// Reports an error that answers none of the lines.
  private func report(_ error: WireError) {
    // Before `welcome`, after a ban, or where a right ends, the close or `left` that follows has the
    // same reason.
    if !client.isLive || error.code == .forbidden {
      parting = error.message
    } else {
      complain(error.message)
    }
  }

  /// Returns why the connection ended, with the relay's own explanation.
  private func reason(of error: ClientError) -> String {
    let text =
      "\(error)\(Self.advice(about: error))"
      + Self.advice(about: error, client.configuration, hasLogin: options.hasLogin)
    defer { parting = nil }
    guard let parting, !text.contains(parting) else { return text }
    return "\(text): \(parting)"
  }

  private func joined(_ joined: ServerMessage.Joined) {
    recordProgress()
    switch joined.resume {
    case .ok: break
    case .truncated:
      if wasJoined { warn("entries before \(joined.after + 1) are no longer kept") }
    case .diverged: warn("the relay lost the entries after \(joined.after)")
    case .reset: warn("the relay has a new log: the entries shown before no longer exist")
    }
    if !wasJoined || historyEnd != nil {
      historyEnd = joined.head > joined.after ? joined.head : nil
    }
    if joined.resume == .diverged || joined.resume == .reset { printed = joined.after }
    // Own entries that the relay has lost, or no longer keeps, are not sent again.
    position = joined.after
    echoEnd = min(echoEnd, max(joined.head, joined.after))
    if !wasJoined { searchPeer(in: joined) }
    wasJoined = true
    attachFiles()
    readInput()
    finishIfDone()
  }

  private func show(_ entry: Entry) {
    if entry.kind.isContent, entry.from != ownName { lastOfOthers = entry.seq }
    if !options.printsJSON, !options.isQuiet {
      printHidden(before: entry)
      if entry.kind != .hidden {
        output.append(
          EntryLine.format(
            entry, from: client.configuration.url, withSequence: options.printsSequence))
      }
      if output.isFull { flushOutput() }
    }
    let wasWaiting = historyEnd != nil || awaitsEcho
    if !options.isQuiet { printed = entry.seq }
    position = entry.seq
    if let end = historyEnd, entry.seq >= end { historyEnd = nil }
    if wasWaiting {
      recordProgress()
      finishIfDone()
    }
  }

  /// Prints one line for hidden entries that follow each other: after the last of them in the history,
  /// after the first one that arrives later.
  private func printHidden(before entry: Entry) {
    if entry.kind == .hidden {
      hidden = (entry, (hidden?.count ?? 0) + 1)
      if historyEnd.map({ entry.seq < $0 }) ?? false { return }
    }
    if let hidden, !isHiddenPrinted {
      output.append(
        EntryLine.format(
          hidden.last, from: client.configuration.url, withSequence: options.printsSequence,
          hidden: hidden.count))
    }
    isHiddenPrinted = entry.kind == .hidden
    if !isHiddenPrinted { hidden = nil }
  }

  static func advice(about error: ClientError) -> String {
    switch error {
    case .untrusted:
      "; trust its authority with --ca FILE, or skip verification with --insecure"
    case .notEncrypted(.plainHTTP), .notEncrypted(.notTLS):
      "; for a relay without TLS use ws://HOST:PORT"
    default: ""
    }
  }

  /// Advises a login, unless there is a token that was made in another way.
  static func advice(
    about error: ClientError, _ configuration: Client.Configuration, hasLogin: Bool
  ) -> String {
    guard case .notAuthenticated = error, hasLogin || configuration.token == nil else { return "" }
    return "; sign in with wschat login \(configuration.url)"
  }

  private func ended(_ error: ClientError) {
    if exitCode == nil {
      complain(reason(of: error))
      exitCode = error.isAccessDenied ? Self.accessDenied : Self.noConnection
    }
    stop()
  }
}
