import Client
import Wire

/// One room as a user sees it: the entries of its log, and the lines that are not in it yet.
final class Conversation: ClientHandler {
  /// What is shown: gapless, in the order of `seq`.
  private(set) var entries: [Entry] = []
  /// To be shown dimmed, below the entries: each line until it is among them.
  private(set) var pending: [(id: String, text: String)] = []
  /// Lines that the relay will never take, with its reason.
  private(set) var refused: [(text: String, reason: String)] = []
  /// Called after each change.
  var changed: () -> Void = {}

  private let room: String
  private let client: Client
  private var user = ""

  init(_ room: String, _ configuration: Client.Configuration, on clients: ClientLoop) {
    self.room = room
    client = Client(configuration, on: clients)
    client.handler = self
    client.join(room, from: .after(0, epoch: nil))
    client.start()
  }

  /// May be called at any time, connected or not.
  func say(_ text: String) {
    pending.append((client.send(text, to: room), text))
    changed()
  }

  func end() { client.close() }

  func client(_ client: Client, _ event: ClientEvent) {
    switch event {
    case .welcomed(let welcome): user = welcome.user
    case .joined(let joined):
      switch joined.resume {
      case .ok: break
      case .truncated, .reset: entries = []
      case .diverged: entries.removeAll { $0.seq > joined.after }
      }
    case .entry(let entry):
      entries.append(entry)
      // Another user's entry may have the same id.
      if entry.from == user { pending.removeAll { $0.id == entry.id } }
      client.mark(room, received: entry.seq)
    case .refused(let send, let error):
      for line in pending where line.id == send.id { refused.append((line.text, error.message)) }
      pending.removeAll { $0.id == send.id }
    default: break
    }
    changed()
  }
}
