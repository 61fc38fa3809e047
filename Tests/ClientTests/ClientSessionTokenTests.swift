import Client
import Testing
import Wire

@Suite struct `Session: tokens that expire` {
  private func session() -> SimulatedSession {
    var settings = SessionSettings()
    settings.renewsTokens = true
    return SimulatedSession(settings: settings)
  }

  private func welcome(_ sim: SimulatedSession, time: Int64 = 1_000_000, expires: Int64?) {
    sim.receive(
      .welcome(
        .init(
          user: "ada", session: "s", server: "t/1", time: time, heartbeatSeconds: 25,
          limits: .init(), expiresInMilliseconds: expires.map { max(0, $0 - time) })))
  }

  private func wanted(_ sim: SimulatedSession) -> [String?] {
    sim.takeEvents().compactMap { event -> String?? in
      if case .tokenWanted(let refused) = event { .some(refused) } else { nil }
    }
  }

  /// Advances the clock, while the relay keeps sending.
  private func advance(_ sim: SimulatedSession, milliseconds: Int) {
    var left = milliseconds
    while left > 0 {
      let step = min(left, 5_000)
      sim.advance(milliseconds: step)
      sim.perform { session, now, _ in session.heard(at: now) }
      left -= step
    }
  }

  @Test(arguments: [
    (600_000, 540_000), (100_000, 80_000), (10_000, 8_000), (500, 1_000), (0, 1_000),
    (-20_000, 1_000),
  ])
  func `another token is requested before the current one expires`(left: Int64, after: Int) {
    let sim = session()
    welcome(sim, expires: 1_000_000 + left)
    advance(sim, milliseconds: after - 1)
    #expect(wanted(sim).isEmpty)
    advance(sim, milliseconds: 1)
    #expect(wanted(sim) == [nil])
    sim.perform { $0.renew("new", at: $1, &$2) }
    #expect(sim.takeTransmitted() == [.auth(token: "new")])
    // There is no time limit for it.
    advance(sim, milliseconds: 600_000)
    #expect(wanted(sim).isEmpty)
  }

  @Test func `each token sets the time of renewal, and one without expiry removes it`() {
    let sim = session()
    welcome(sim, expires: 1_010_000)
    sim.receive(.renewed(expiresInMilliseconds: 100_000))
    advance(sim, milliseconds: 79_999)
    #expect(wanted(sim).isEmpty)
    advance(sim, milliseconds: 1)
    #expect(wanted(sim) == [nil])
    sim.receive(.renewed(expiresInMilliseconds: nil))
    advance(sim, milliseconds: 600_000)
    #expect(wanted(sim).isEmpty)
    #expect(sim.connects == 1)
  }

  @Test func `an expiry in the far future does no harm`() {
    let sim = session()
    welcome(sim, time: 0, expires: 9_007_199_254_740_991)
    advance(sim, milliseconds: 600_000)
    #expect(wanted(sim).isEmpty)
  }

  @Test func `a rejected token is replaced once, and the next rejection ends the client`() {
    let sim = session()
    sim.send("one")
    sim.disconnect(.notAuthenticated(reason: "no"))
    #expect(wanted(sim) == ["no"])
    #expect(sim.session.deadline == nil)
    #expect(!sim.session.hasEnded)
    #expect(sim.connects == 1)
    sim.perform { $0.renew("new", at: $1, &$2) }
    #expect(sim.connects == 2)
    sim.disconnect(.notAuthenticated(reason: "no, too"))
    #expect(sim.takeEvents() == [.ended(.notAuthenticated(reason: "no, too"))])
  }

  @Test func `a session outlives its token, and lines that were under way are sent again`() {
    let sim = session()
    for _ in 1...3 {
      welcome(sim, expires: 1_000_500)
      let id = sim.send("one")
      #expect(sim.takeTransmitted().lines == ["one"])
      sim.receive(.error(WireError(.tokenExpired, "The token has expired.")))
      sim.disconnect(.notAuthenticated(reason: "expired"))
      #expect(wanted(sim) == ["The token has expired."])
      sim.perform { $0.renew("new", at: $1, &$2) }
      welcome(sim, expires: 1_000_500)
      #expect(sim.takeTransmitted().lines == ["one"])
      sim.ack(id)
      sim.disconnect()
      sim.reconnect()
      _ = sim.takeEvents()
    }
  }

  @Test func `without a source of tokens a refusal ends the client`() {
    let sim = SimulatedSession()
    welcome(sim, expires: 1_010_000)
    advance(sim, milliseconds: 60_000)
    #expect(wanted(sim).isEmpty)
    sim.disconnect(.notAuthenticated(reason: "no"))
    #expect(sim.events.last == .ended(.notAuthenticated(reason: "no")))
  }

  @Test func `closing without a token is immediate`() {
    let sim = session()
    sim.disconnect(.notAuthenticated(reason: "no"))
    sim.perform { $0.close(at: $1, &$2) }
    #expect(sim.events.last == .ended(.closedByClient))
  }
}
