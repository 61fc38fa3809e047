import Client
import Wire

/// Blocks, requests and reports. A person waits for the outcome, so nothing is stored for later.
extension Chat {
  /// Performs a command from the composer.
  mutating func perform(
    _ command: PersonCommand, _ argument: String, _ effects: inout [Effect]
  ) {
    guard let open else { return }
    guard isLive else { return complain("/\(command) needs a connection.") }
    if command == .accept, open.peer != nil, !open.isRequest {
      return complain("This conversation is no request.")
    }
    do throws(RoomCommand.Problem) {
      let request = try command.request(
        argument, in: open.room, with: open.peer, reporting: reported, name: { name(of: $0) })
      clearComposer(&effects)
      let ref = nextID()
      personRequests[ref] = request
      effects.append(.ask(request.message, ref: ref))
    } catch {
      complain(error.text)
    }
  }

  /// The message that a report is about: the selected one, or that of the reply, or the last one of
  /// another person.
  private var reported: Int64? {
    if let message = selectedMessage, !message.isNotice { return message.seq }
    if case .reply = composition { return compositionTarget }
    return timeline?.messages.last { !$0.isOwn && !$0.isNotice && !$0.isDeleted }?.seq
  }

  mutating func answered(_ ref: String) {
    guard let request = personRequests.removeValue(forKey: ref) else { return }
    if case .accept(let room) = request.message { acceptRequest(room) }
    complain(request.effect, isError: false)
  }

  /// - Returns: Whether the error answers a request of a command.
  mutating func requestRefused(_ error: WireError) -> Bool {
    guard let request = error.ref.flatMap({ personRequests.removeValue(forKey: $0) }) else {
      return false
    }
    complain("\(request.attempt) was refused: \(describe(error))")
    return true
  }

  /// A conversation is no request any more, because the user has accepted it, or written there.
  mutating func acceptRequest(_ room: String) {
    guard conversations[room]?.isRequest == true else { return }
    conversations[room]?.isRequest = false
    isListStale = true
  }

  /// The answers are lost with the connection.
  mutating func forgetRequests() {
    if let request = personRequests.values.first {
      complain("\(request.attempt) was not answered. Write the command again.")
    }
    personRequests = [:]
  }
}
