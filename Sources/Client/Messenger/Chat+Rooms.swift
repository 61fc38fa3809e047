import Client
import Wire

/// What changes a room or its members. A person waits for the outcome, so nothing is stored for later.
extension Chat {
  /// What the relay was asked for, and has not answered.
  struct AskedChange: Sendable {
    var room: String
    var request: RoomCommand.Request
    /// The user leaves the room, and forgets it.
    var isLeaving = false
  }

  /// Performs a command from the composer.
  mutating func perform(
    _ command: RoomCommand, _ argument: String, _ effects: inout [Effect]
  ) {
    guard let open, command == .create || open.peer == nil else {
      return complain("Only rooms have members, topics and titles.")
    }
    guard isLive else { return complain("/\(command) needs a connection.") }
    do throws(RoomCommand.Problem) {
      let request = try command.request(argument, in: open.membership, at: now)
      clearComposer(&effects)
      ask(.init(room: command == .create ? "" : open.room, request: request), &effects)
    } catch {
      complain(error.text)
    }
  }

  mutating func ask(_ change: AskedChange, _ effects: inout [Effect]) {
    let id = nextID()
    changes[id] = change
    effects.append(.change(change.request.send(to: change.room, id: id)))
  }

  /// - Returns: Whether it answers a change.
  mutating func changed(_ ack: ServerMessage.Ack, _ effects: inout [Effect]) -> Bool {
    guard let change = changes.removeValue(forKey: ack.id) else { return false }
    if change.isLeaving { forget(change.room, &effects) }
    // The name is the relay's.
    if change.room.isEmpty {
      addConversation(ack.room)
      if case .settings(let settings) = change.request, let title = settings.title {
        conversations[ack.room]?.title = title
      }
      open(ack.room, &effects)
    }
    return true
  }

  mutating func changeRefused(_ send: ClientMessage.Send, _ error: WireError) -> Bool {
    guard let change = changes.removeValue(forKey: send.id) else { return false }
    var reason = describe(error)
    // A name that the relay has chosen tells people nothing.
    if change.room.utf8.count > 30, let title = conversations[change.room]?.title {
      reason = reason.replacing(change.room, with: title)
    }
    complain("\(describe(change)) was refused: \(reason)")
    return true
  }

  private func describe(_ change: AskedChange) -> String {
    guard case .member(let member) = change.request else {
      return change.room.isEmpty ? "Making the room" : "Changing the room"
    }
    let name = name(of: member.user)
    return switch member.role {
    case .none where member.user == user: "Leaving the room"
    case .none: "Removing \(name)"
    case .banned: "Banning \(name)"
    case .muted: "Muting \(name)"
    case .owner, .moderator, .member: "Making \(name) \(member.role.noun)"
    }
  }

  /// Says what the room is about.
  mutating func showTopic() {
    guard let open else { return }
    let name = "\(open.title) (\(open.peer.map { "@\($0)" } ?? "#\(open.room)"))"
    let topic = open.membership.settings?.topic ?? ""
    complain(topic.isEmpty ? name : "\(name): \(topic)", isError: false)
  }
}
