internal import Relay

/// A client of the relay over HTTP.
protocol HTTPParticipant: Participant {
  var http: HTTPEnd? { get }
  var world: Simulation { get }
  func take(_ response: HTTPEnd.Response, _ link: Link)
  /// Gives the connection up.
  func drop()
}

extension HTTPParticipant {
  var end: ClientEnd? { nil }
  var linkEnd: (any LinkEnd)? { http }

  func takeEvents() {
    guard let current = http else { return }
    for event in current.receive(now: world.now.monotonic) {
      switch event {
      case .response(let response): take(response, current.link)
      case .nonsense(let text): world.referee.fault("\(name): \(text)")
      case .lost: drop()
      }
      guard http === current else { return }
    }
  }

  func fault(_ response: HTTPEnd.Response, _ what: String) {
    let text = String(decoding: response.body.prefix(200), as: UTF8.self)
    world.referee.fault("\(name): \(response.status) to \(what): \(text)")
  }

  /// The path of a room's messages.
  func messages(of room: String) -> String {
    let room = room.split(separator: ":", omittingEmptySubsequences: false)
      .joined(separator: "%3A")
    return "/v1/rooms/\(room)/messages"
  }
}
