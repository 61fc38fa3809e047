import Wire

/// The keys at the bottom of the screen: those that do something now.
extension Chat {
  var hints: [(key: String, what: String)] {
    let (context, commands) = hintedCommands
    return commands.compactMap { command, what in
      label(command, in: context).map { (key: $0, what: what) }
    }
  }

  private var hintedCommands: (Keymap.Context, [(Command, String)]) {
    if let overlay { return (context, hintedCommands(in: overlay)) }
    if search != nil {
      return (.overlay, [(.choose, "older match"), (.down, "newer match"), (.cancel, "close")])
    }
    let urgent: [(Command, String)] = overdueSeconds == nil ? [] : [(.reconnect, "reconnect now")]
    let general: [(Command, String)] = [
      (.switcher, "switch"), (.help, "help"), (.quit, "quit"), (.search, "search"),
      (.nextPane, "next pane"),
    ]
    switch timeline == nil ? .list : pane {
    case .list where isFiltering:
      return (
        .overlay, [(.choose, "open"), (.up, "up"), (.down, "down"), (.cancel, "end the filter")]
      )
    case .list:
      return (.list, urgent + [(.choose, "open"), (.filter, "filter"), (.mute, "mute")] + general)
    case .messages: return (.messages, urgent + hintsOnMessage + [(.cancel, "back")] + general)
    case .composer: return (.composer, urgent + hintsInComposer + general)
    }
  }

  private func hintedCommands(in overlay: Overlay) -> [(Command, String)] {
    let moves: [(Command, String)] = [(.up, "up"), (.down, "down"), (.cancel, "close")]
    switch overlay {
    case .help: return [(.up, "up"), (.down, "down"), (.pageDown, "next page"), (.cancel, "close")]
    case .switcher(let switcher):
      return [(.choose, switcher.forwarding == nil ? "open" : "forward")] + moves
    case .actions: return [(.choose, "choose")] + moves
    case .reactions(_, let query) where query.isEmpty:
      return [(.choose, "react"), (.left, "left"), (.right, "right")] + moves.suffix(1)
    case .reactions: return [(.choose, "react")] + moves
    case .confirmDeletion: return [(.choose, "delete"), (.cancel, "keep")]
    case .find(let find):
      let what =
        find.matches.indices.contains(find.selected) ? "go to the message" : "search the relay"
      return (choices(in: find) == 0 ? [] : [(.choose, what)]) + moves
    case .date: return [(.choose, "go"), (.cancel, "close")]
    case .signIn:
      if case .ended = signIn { return [(.choose, "new code"), (.cancel, "close")] }
      return [(.cancel, "close")]
    case .confirmLeaving: return [(.choose, "leave"), (.cancel, "stay")]
    case .confirmChange(let change):
      return [(.choose, change.role == .banned ? "ban" : "remove"), (.cancel, "keep")]
    case .members(let selected): return hints(onMember: selected) + moves.suffix(1)
    case .confirmQuitting: return [(.choose, "quit"), (.cancel, "stay")]
    case .confirmSending: return [(.choose, "send"), (.cancel, "insert the path")]
    case .confirmOpening: return [(.choose, "open"), (.cancel, "do not open")]
    }
  }

  /// The actions that are possible on the selected message, the usual ones first.
  private var hintsOnMessage: [(Command, String)] {
    guard let message = selectedMessage else { return [(.up, "choose a message")] }
    if isSelecting {
      let count = selection.count
      return [
        (.copy, count == 1 ? "copy" : "copy \(count) messages"),
        (timeline?.isMarked == true ? .up : .extendUp, "older"),
        (timeline?.isMarked == true ? .down : .extendDown, "newer"),
      ]
    }
    let possible = Set(actions(for: message))
    let all: [(Command, String)] = [
      (.retry, "resend"), (.discard, "discard"), (.reply, "reply"), (.react, "react"),
      (.copy, "copy"), (.openLink, "open link"), (.openFile, "open"), (.saveFile, "save"),
      (.edit, "edit"), (.delete, "delete"),
      (.forward, "forward"),
    ]
    let actions = all.filter { possible.contains($0.0) }
    return actions.isEmpty ? [] : [(.choose, "actions")] + actions
  }

  private var hintsInComposer: [(Command, String)] {
    if completion != nil {
      return [(.send, "insert"), (.complete, "next"), (.cancel, "close")]
    }
    switch composition {
    case .new:
      let others: [(Command, String)] =
        open?.otherDrafts.isEmpty == false ? [(.otherDraft, "other draft")] : []
      return [(.send, "send")] + others + [(.newLine, "new line")]
    case .reply: return [(.send, "reply"), (.newLine, "new line"), (.cancel, "no reply")]
    case .edit: return [(.send, "save"), (.newLine, "new line"), (.cancel, "cancel")]
    }
  }
}
