import Client
import Wire

/// Reports what has a word in it to the moderators of a room, and blocks its sender. Accepts the requests
/// of all others.
final class SpamFilter: ClientHandler {
  /// The messages of which the relay has stored a report.
  private(set) var reported: [Int64] = []
  private(set) var blocked: [String] = []
  /// Why the relay has refused something.
  private(set) var refusals: [String] = []

  private let client: Client
  private let (room, word): (String, String)
  private var waiting: [String: Int64] = [:]

  init(
    _ word: String, in room: String, _ configuration: Client.Configuration, on clients: ClientLoop
  ) {
    (self.room, self.word) = (room, word)
    client = Client(configuration, on: clients)
    client.handler = self
    client.join(room, from: .after(0, epoch: nil))
    client.start()
  }

  /// Asks for what was reported, which only moderators may read.
  func list() { client.reports(of: room) }

  func end() { client.close() }

  func client(_ client: Client, _ event: ClientEvent) {
    switch event {
    case .entry(let entry) where entry.text?.contains(word) == true:
      if let ref = client.report(entry.seq, in: room, reason: "It has \(word) in it.") {
        waiting[ref] = entry.seq
      }
      client.block(entry.from)
    case .answered(let ref):
      if let seq = waiting.removeValue(forKey: ref) { reported.append(seq) }
    case .message(.blocks(let users)): blocked = users
    case .message(.activity(let activity)) where activity.isRequest: client.accept(activity.room)
    case .message(.error(let error)) where error.ref != nil: refusals.append(error.message)
    default: break
    }
  }
}
