internal import Relay
internal import Wire

/// What a client of files makes of the relay's answers, and the checks of these.
extension FileParticipant {
  func take(_ response: HTTPEnd.Response, to question: Question, _ link: Link) {
    switch question {
    case .create: takeCreated(response)
    case .append(let isDamaged): takeAppended(response, isDamaged: isDamaged)
    case .progress: takeProgress(response)
    case .terminate:
      // One that an entry names stays.
      if ![204, 404, 409].contains(response.status) { fault(response, "the end of an upload") }
      upload = nil
    case .post: takePosted(response, link)
    case .download(let download): take(response, of: download, link)
    }
  }

  // MARK: - Uploads

  private func takeCreated(_ response: HTTPEnd.Response) {
    guard let content = upload?.content else { return }
    if response.status == 409 {
      world.referee.tally.count(.userIsFull)
      upload = nil
      return
    }
    guard response.status == 201, let location = response.field("location"),
      let id = location.split(separator: "/").last.map({ String($0.prefix { $0 != "?" }) })
    else { return fault(response, "a new upload") }
    upload?.id = id
    files.record(id, FileModel.File(owner: user, content: content))
    moveOn(response)
  }

  private func takeAppended(_ response: HTTPEnd.Response, isDamaged: Bool) {
    switch response.status {
    case 204 where !isDamaged: moveOn(response)
    case 404: beginAgain()
    case 409: takeRefused(response)
    // A checksum that cannot be compared is not right.
    case 460 where isDamaged || world.referee.readsMayFail:
      if isDamaged { world.referee.tally.count(.partDamaged) }
      upload?.isUnsure = true
    default: fault(response, "a part of an upload")
    }
  }

  private func takeProgress(_ response: HTTPEnd.Response) {
    switch response.status {
    case 200:
      upload?.isUnsure = false
      moveOn(response)
    case 404: beginAgain()
    // The file would be one too many; an answer to HEAD does not say so.
    case 409: refuse()
    default: fault(response, "a question for an upload")
    }
  }

  private func takeRefused(_ response: HTTPEnd.Response) {
    if String(decoding: response.body, as: UTF8.self).contains("\"limit_reached\"") {
      refuse()
    } else {
      upload?.isUnsure = true
    }
  }

  private func refuse() {
    world.referee.tally.count(.userIsFull)
    upload?.isRefused = true
  }

  private func beginAgain() {
    world.referee.tally.count(.uploadBegun)
    upload = upload.map { Upload(content: $0.content) }
  }

  private func moveOn(_ response: HTTPEnd.Response) {
    guard let state = upload, let id = state.id,
      let offset = response.field("upload-offset").flatMap({ Int($0) })
    else { return fault(response, "an upload, without its offset") }
    // One that is complete is as long as it is served.
    if response.field("upload-length").map({ Int($0) }) == offset {
      return finish(id, state.content)
    }
    guard offset <= state.content.count else { return fault(response, "an upload of that length") }
    if state.hadBreak, offset > 0, offset < state.content.count {
      world.referee.tally.count(.uploadResumed)
      upload?.hadBreak = false
    }
    upload?.offset = offset
    if offset == state.content.count { finish(id, state.content) }
  }

  // MARK: - Entries

  private func takePosted(_ response: HTTPEnd.Response, _ link: Link) {
    let post = posts.removeFirst()
    switch response.status {
    case 200, 201: check(response, of: post.send, link)
    case 403, 404, 409:
      guard case .file(let id, _)? = post.send.reference else { return }
      world.referee.tally.count(response.status == 409 ? .userIsFull : .fileRefused)
      if response.status == 404, isNoSuchEntry(response), post.attempts == 1,
        post.isFirstSince == files.setbacks, user != Simulation.erasedUser
      {
        fault(response, "an entry with \(id), which was uploaded")
      }
    default: fault(response, "an entry in \(post.send.room)")
    }
  }

  private func isNoSuchEntry(_ response: HTTPEnd.Response) -> Bool {
    String(decoding: response.body, as: UTF8.self).contains("\"no_such_entry\"")
  }

  private func check(_ response: HTTPEnd.Response, of send: ClientMessage.Send, _ link: Link) {
    guard case .ack(let ack)? = try? ServerMessage(decoding: response.body.span),
      ack.room == send.room, ack.id == send.id
    else { return fault(response, "an entry in \(send.room)") }
    guard link.life == world.life else { return }
    if send.kind == .file { own = own.suffix(30) + [FileModel.Place(room: ack.room, seq: ack.seq)] }
    let ledger = world.referee.ledger
    guard Simulation.isWatched(ack.room), ack.seq >= ledger.room(ack.room).first else { return }
    let entry = ledger.entry(ack.room, ack.seq)
    if entry?.id != send.id || entry?.from != user
      || ledger.hasContent(of: send, ack.seq) == false && !ledger.isRedacted(ack.room, ack.seq)
    {
      world.referee.fault("\(name): \(send.id) is acknowledged, but is not \(ack.room) \(ack.seq)")
    }
  }

  // MARK: - Downloads

  private func take(_ response: HTTPEnd.Response, of download: Download, _ link: Link) {
    guard link.life == world.life else { return }
    let now = world.referee.ledger.places(ofFile: download.id)
    switch response.status {
    case 200:
      world.referee.tally.count(.fileServed)
      if !files.mayRead(
        download.id, download.places + now, by: user, since: download.heads, world.referee)
      {
        world.referee.fault("\(name): \(download.id) is served, which \(user) may not read")
      }
      let isRight =
        download.isThumbnail
        ? files.isThumbnail(response.body, of: download.id)
        : files.isServed(response.body, of: download.id)
      if !isRight { world.referee.fault("\(name): \(download.id) is served with other bytes") }
    case 404:
      world.referee.tally.count(.fileHidden)
      // In an open room it is there for everyone, as long as an entry names it.
      let stays = download.places.contains { place in
        ["a", "b", "c"].contains(place.room)
          && now.contains { $0.room == place.room && $0.seq == place.seq }
      }
      if stays, !download.isThumbnail, !files.isLost(download.id) {
        world.referee.fault("\(name): \(download.id) is not served, although an entry names it")
      }
    default: fault(response, "a download")
    }
  }
}
