import Client
import Testing
import Wire

@Suite struct `The settings and members of a joined room` {
  private func joined(_ sim: SimulatedSession, head: Int64, resume: ServerMessage.Resume = .ok) {
    var joined = ServerMessage.Joined(
      room: "r", epoch: "e1", head: head, first: 1, after: head, resume: resume, read: 0,
      received: 0, members: [])
    joined.about = .init(title: "Den", topic: "Tea", access: .private, role: .moderator)
    for (user, role) in [("ada", Role.moderator), ("bo", .owner), ("cy", nil)] {
      var marks = ServerMessage.Marks(user: user, read: 0, received: 0)
      marks.role = role
      joined.members?.append(marks)
    }
    sim.receive(.joined(joined))
  }

  private func entry(_ seq: Int64, _ kind: EntryKind, _ body: [UInt8]) -> ServerMessage {
    .message(Entry(room: "r", seq: seq, id: "i\(seq)", from: "bo", at: 0, kind: kind, body: body))
  }

  @Test func `are those of the join, and of the entries after it`() throws {
    let sim = SimulatedSession()
    sim.join()
    sim.welcome()
    #expect(sim.session.membership(of: "r") == nil)
    joined(sim, head: 4)
    var known = try #require(sim.session.membership(of: "r"))
    #expect(known.role == .moderator)
    #expect(known.members == ["ada": .moderator, "bo": .owner, "cy": .member])
    #expect(known.settings?.title == "Den" && known.settings?.slowSeconds == nil)

    var change = RoomSettings.Change()
    change.topic = ""
    change.slowSeconds = 30
    sim.receive(entry(5, .settings, change.body))
    sim.receive(entry(6, .member, MemberChange(user: "ada", role: .muted).body))
    sim.receive(entry(7, .member, MemberChange(user: "cy", role: .banned).body))
    sim.receive(entry(8, .member, MemberChange(user: "dee", role: .member).body))
    known = try #require(sim.session.membership(of: "r"))
    #expect(known.role == .muted)
    #expect(known.members == ["ada": .muted, "bo": .owner, "dee": .member])
    #expect(known.settings?.title == "Den" && known.settings?.topic == "")
    #expect(known.settings?.slowSeconds == 30)

    // What only entries tell is kept over a join of the same log.
    joined(sim, head: 8)
    #expect(sim.session.membership(of: "r")?.settings?.slowSeconds == 30)
    joined(sim, head: 8, resume: .reset)
    #expect(sim.session.membership(of: "r")?.settings?.slowSeconds == nil)
  }

  @Test func `are unknown once the room is left`() {
    let sim = SimulatedSession()
    sim.join()
    sim.welcome()
    joined(sim, head: 4)
    sim.receive(.left(room: "r", .init(seq: 5, by: "bo", role: Role.none)))
    #expect(sim.session.membership(of: "r") == nil)
  }

  @Test func `a new room whose name the relay chooses is acknowledged under that name`() {
    let sim = SimulatedSession()
    sim.welcome()
    let id = sim.send("settings", to: "")
    sim.ack(id, room: "chosen")
    #expect(sim.session.unacknowledged == 0)
    guard case .acknowledged(let ack) = sim.events.last else {
      Issue.record("told \(String(describing: sim.events.last))")
      return
    }
    #expect(ack.room == "chosen")
  }
}
