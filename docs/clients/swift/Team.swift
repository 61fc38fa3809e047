import Client
import Wire

/// A private room that one user makes, and its members.
final class Team: ClientHandler {
  /// Its name, once the relay has chosen it.
  private(set) var room: String?
  private(set) var members: [String: Role] = [:]
  /// Why the relay has refused something.
  private(set) var refusals: [String] = []

  private let client: Client
  private var creation = ""

  init(_ title: String, _ configuration: Client.Configuration, on clients: ClientLoop) {
    client = Client(configuration, on: clients)
    client.handler = self
    var settings = RoomSettings.Change()
    settings.title = title
    settings.access = .private
    creation = client.createRoom(settings)
    client.start()
  }

  func invite(_ user: String) { if let room { client.invite(user, to: room) } }

  func remove(_ user: String, because reason: String) {
    if let room { client.remove(user, from: room, reason: reason) }
  }

  func end() { client.close() }

  func client(_ client: Client, _ event: ClientEvent) {
    switch event {
    case .acknowledged(let ack) where ack.id == creation:
      room = ack.room
      client.join(ack.room, from: .after(0, epoch: nil))
    case .joined(let joined): members = client.membership(of: joined.room)?.members ?? [:]
    case .entry(let entry): members = client.membership(of: entry.room)?.members ?? [:]
    case .refused(_, let error): refusals.append(error.message)
    default: break
    }
  }
}
