import Archive
import Client
import Glibc
import Messenger
import Terminal
import Wire

/// The effects that the chat requests.
extension ScreenChat {
  func perform(_ effect: Effect) {
    switch effect {
    case .join(let room, let head): join(room, head: head)
    case .request(let message): client.request(message)
    case .mark(let room, let received, let read):
      client.mark(room, received: received, read: read)
    case .send(let send, let at):
      // Stored first: a message that was displayed as sent is not lost, and what was its draft is
      // gone with it.
      let draft = endedDraft
      endedDraft = nil
      let isKept = keep { archive throws(ArchiveError) in
        try archive.enqueue(send, at: at, draft: draft)
      }
      if !isKept { take(.kept(id: send.id, false)) }
      if isAuthenticated || !isKept { client.send(send) }
    case .retry(let send):
      let isKept = keep { archive throws(ArchiveError) in
        try archive.retry(room: send.room, id: send.id)
      }
      if isAuthenticated || !isKept { client.send(send) }
    case .discard(let room, let id):
      keep { archive throws(ArchiveError) in try archive.discard(room: room, id: id) }
    case .takeBack(let room, let id, let edits): takeBack(room, id, edits)
    case .leave(let room): leave(room)
    case .load(let room, let before): load(room, before: before)
    case .loadNewer(let room, let after): loadNewer(room, after: after)
    case .find(let text, let wanted): find(text, wanted: wanted)
    case .endFind: archiveSearch = nil
    case .seek(let room, let place): seek(room, place)
    case .fetchOlder(let room): fetchOlder(room)
    case .count(let room, let after):
      keep { archive throws(ArchiveError) in
        let user = chat.user ?? ""
        if let count = try archive.contentCount(in: room, after: after, notFrom: user) {
          take(.counted(room: room, unread: count))
        }
      }
    case .quote(let room, let seq):
      keep { archive throws(ArchiveError) in
        if let entry = try archive.entry(room, seq) { take(.quoted(room: room, entry)) }
      }
    case .save(let room):
      unsaved.insert(room)
      scheduleFlush()
    case .saveDraft(let room, let text, let base): save(draft: text, of: room, inPlaceOf: base)
    case .endDraft(let room, let version):
      endedDraft = .init(version)
      waitingDrafts.removeAll { $0.room == room && $0.base == version }
    case .saveNames(let names): keep { $0.save(names: names) }
    case .edit(let text, let limitBytes): edit(text, limitBytes: limitBytes)
    case .copy(let text, let count):
      if let bytes = ControlString.copy(text) {
        show(bytes)
        // tmux does not say whether it takes what a program copies; by default it does not.
        let condition =
          Environment["TMUX"] == nil
          ? "" : " In tmux this needs `set -g set-clipboard on`; see wschat(1)."
        take(.done((count == 1 ? "Copied." : "Copied \(count) messages.") + condition))
      } else {
        let what = count == 1 ? "The text is" : "The \(count) messages are"
        take(
          .failed(
            "\(what) too long for the terminal's clipboard, which takes "
              + "\(ControlString.copyLimitBytes / 4 * 3 / 1000) kB. Nothing was copied."))
      }
    case .open(let url):
      guard Launcher.has("xdg-open") else {
        return take(.failed("xdg-open is not installed; copy the link instead: \(url)"))
      }
      if let error = Launcher.open(["xdg-open", url]) {
        return take(.failed("The link was not opened: \(error). Copy it instead: \(url)"))
      }
      take(.done("Opened \(url)"))
    case .notify(let title, let body): notify(title, body)
    case .bell: show(ControlString.bell)
    case .sound(let sound):
      let command = sound == .sent ? options.settings.soundSent : options.settings.soundReceived
      if let command { Launcher.run(shell: command) }
    case .reconnect:
      if chat.conditions[.noToken] != nil { renewToken() }
      client.reconnect()
    case .redraw: redraw()
    case .suspend: suspend()
    case .quit: quit()
    }
  }

  private func join(_ room: String, head: Int64?) {
    guard !joins.contains(room) else { return }
    joins.insert(room)
    var start = JoinStart.newest(Self.pageEntries)
    keep { archive throws(ArchiveError) in
      guard let extent = try archive.extent(of: room) else { return }
      if (head ?? extent.latest) - extent.latest <= Self.catchUpEntries {
        start = .after(extent.latest, epoch: extent.epoch, lineage: extent.lineage)
      }
    }
    client.join(room, from: start)
  }

  private func takeBack(_ room: String, _ id: String, _ edits: Bool) {
    // What was written before the relay has confirmed the user is not the client's yet.
    let isHeld = !isAuthenticated && archive != nil
    guard !restoredLines.contains(id), client.withdraw(room: room, id: id) || isHeld else {
      return take(
        .failed(
          "The relay may have this message already. It can be changed once the relay confirms it."))
    }
    keep { archive throws(ArchiveError) in try archive.discard(room: room, id: id) }
    take(.takenBack(room: room, id: id, edits: edits))
  }

  private func leave(_ room: String) {
    if joins.remove(room) != nil {
      client.leave(room, forgetting: true)
    } else {
      client.request(.leave(room: room, forget: true))
    }
    unsaved.remove(room)
    reaches.remove(room)
    keep { $0.forget(room) }
  }

  private func notify(_ title: String, _ body: String) {
    switch chat.settings.notify {
    case .off: break
    case .command(let command): Launcher.run(shell: command, arguments: [title, body])
    case .auto:
      if let form = capabilities.notificationForm {
        show(ControlString.notification(title: title, body: body, as: form))
      } else {
        Launcher.run([
          "notify-send", "--app-name=wschat", "--", title, ControlString.notificationMarkup(body),
        ])
        // On a machine without a desktop the bell, which tmux and others show, is all there is.
        if !Launcher.hasDesktop, !chat.settings.bell { show(ControlString.bell) }
      }
    case .osc9: show(ControlString.notification(title: title, body: body, as: .osc9))
    case .osc99: show(ControlString.notification(title: title, body: body, as: .osc99))
    case .osc777: show(ControlString.notification(title: title, body: body, as: .osc777))
    }
  }
}
