import Client
import EventLoop
import Glibc
import Messenger
import Platform
internal import Terminal
import Wire

/// Commands that a person types: those about the room and its members.
extension LineChat {
  /// Carries a command out.
  /// - Parameter number: Of the line.
  func perform(_ command: SlashCommand, _ argument: String, number: Int) {
    guard let room else { return }
    let name = command.names[0]
    let membership = client.membership(of: room) ?? Membership()
    switch name {
    case "members" where argument.isEmpty: return printMembers(membership)
    case "topic" where argument.isEmpty:
      let topic = membership.settings?.topic ?? ""
      return say(topic.isEmpty ? "the room has no topic" : "topic: \(topic)")
    default: break
    }
    if let about = command.personCommand { return perform(about, argument, number: number) }
    guard let change = command.roomCommand(argument) else {
      return complain(
        "/\(name) is a command of the full screen, and was not sent;"
          + " begin the line with // to send it as text")
    }
    guard change == .create || !RoomName.isDirect(room) else {
      return complain("/\(name): only rooms have members, topics and titles")
    }
    do throws(RoomCommand.Problem) {
      let now = WallClock.milliseconds
      let id =
        switch try change.request(argument, in: membership, at: now) {
        case .settings(let settings): client.change(settings, of: change == .create ? "" : room)
        case .member(let member):
          client.setRole(
            of: member.user, in: room, to: member.role, until: member.until, reason: member.reason)
        }
      expectAnswer(to: id, number: number, bytes: argument.utf8.count)
    } catch {
      complain("/\(name): \(error.text)")
    }
  }

  private func perform(_ command: PersonCommand, _ argument: String, number: Int) {
    guard let room else { return }
    do throws(RoomCommand.Problem) {
      let request = try command.request(
        argument, in: room, with: RoomName.peer(in: room, of: ownName), reporting: lastOfOthers)
      guard client.request(request.message, ref: "line-\(number)") else {
        return complain("/\(command) needs a connection")
      }
      recordProgress()
      asked["line-\(number)"] = (request, number)
    } catch {
      complain("/\(command): \(error.text)")
    }
  }

  /// Says what has become of a command about a person.
  func answered(_ ref: String, _ error: WireError?, isLost: Bool = false) {
    guard let (request, number) = asked.removeValue(forKey: ref) else { return }
    if let error {
      refuse(number, error.message)
    } else if isLost {
      refuse(number, "the connection was lost; write it again")
    } else {
      say(request.effect)
    }
    finishIfDone()
  }

  /// Says under which name a new room was made.
  func sayWhatWasMade(_ ack: ServerMessage.Ack) {
    say("the room is made: wschat --room \(ack.room) opens it")
  }

  private func printMembers(_ membership: Membership) {
    guard let members = membership.members else {
      return say("a room of more than 50 members lists none")
    }
    for (user, role) in members.sorted(by: { $0.key < $1.key }) {
      say(role == .member ? user : "\(user), \(role.rawValue)")
    }
  }

  private func say(_ text: String) {
    // Standard output has entries only; its text comes first, since it may be the same terminal.
    flushOutput()
    write("\(TerminalText.line(text))\n", to: STDERR_FILENO)
  }
}
