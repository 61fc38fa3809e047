import Relay
import Testing
import WebSocket
import Wire

@testable import Gateway

/// A client that sends the head of a request, and the rest when it is thrown out.
@Suite struct `A request that is under way when its user is thrown out` {
  private let relay = ArrayLoop(
    authenticator: Authenticator(
      verify: { token, _, _ in
        var identity = Identity(user: "ada")
        identity.device = token
        return identity
      }, botUsers: []))

  private static let content = #"[{"type":"ping"}]"#

  private func begin(device: String) -> Int {
    let stream = relay.connect()
    let head = """
      POST /v1/requests?token=\(device) HTTP/1.1\r\nHost: localhost\r
      Content-Type: application/json\r\nContent-Length: \(Self.content.utf8.count)\r\n\r\n
      """
    #expect(relay.send(head.utf8, on: stream) == "")
    return stream
  }

  private func take(_ message: LoopMessage) {
    relay.world.mail.append(message)
    relay.run()
  }

  private static let signedOut = WireError(.unauthorized, "signed out", re: .auth)

  @Test func `is refused at once, and what follows is not read`() throws {
    let (lost, other) = (begin(device: "phone"), begin(device: "desk"))
    take(.deviceEnded(DeviceEnding(device: "phone", user: "ada", reason: Self.signedOut)))
    let refusal = relay.takeOutput(of: lost)
    #expect(refusal.hasPrefix("HTTP/1.1 401"), "\(refusal)")
    #expect(refusal.lowercased().contains("connection: close"))
    #expect(relay.send(Self.content.utf8, on: lost) == "")
    #expect(relay.world.streams[lost]?.isFinished == true)
    #expect(relay.send(Self.content.utf8, on: other).hasPrefix("HTTP/1.1 200"))
  }

  @Test func `is refused for all devices of a user, and of no other user`() {
    let stream = begin(device: "phone")
    take(.deviceEnded(DeviceEnding(device: nil, user: "bo", reason: Self.signedOut)))
    #expect(relay.takeOutput(of: stream) == "")
    take(.deviceEnded(DeviceEnding(device: nil, user: "ada", reason: .banned("ada"))))
    #expect(relay.takeOutput(of: stream).hasPrefix("HTTP/1.1 403"))
  }

  @Test func `is refused if the user is banned`() {
    let stream = begin(device: "phone")
    take(.ban(["ada"]))
    #expect(relay.takeOutput(of: stream).hasPrefix("HTTP/1.1 403"))
  }
}
