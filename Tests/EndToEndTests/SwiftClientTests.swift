import Client
import EventLoop
import TestSupport
import Testing
import Wire

@testable import ConversationExample

extension `End to end` {
  /// The example of the documentation of `Client`.
  @Suite struct `The documented client in Swift` {
    @Test func `two conversations agree with the log after five kills of the relay`() throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      let loop = try EventLoop()
      let clients = try ClientLoop(loop)
      let url = try RelayURL(relay.url)
      var settings = SessionSettings()
      settings.backoffLimitMilliseconds = 200
      let talks = ["ada", "bo"].map { user in
        Conversation(
          "general", Client.Configuration(url: url, user: user, settings: settings), on: clients)
      }
      for round in 1...5 {
        for (number, talk) in talks.enumerated() {
          for line in 0..<20 { talk.say("\(round).\(line) of \(number)") }
        }
        try run(loop, clients) { talks.contains { $0.entries.count >= 40 * round - 30 } }
        try relay.kill()
        for talk in talks { talk.say("\(round), to nobody") }
        try relay.start()
      }
      try run(loop, clients) { talks.allSatisfy { $0.entries.count >= 210 } }

      let log = try RawClient(relay, user: "auditor").everything(in: "general")
      #expect(log.map(\.seq) == Array(1...210))
      #expect(Set(log.compactMap(\.text)).count == 205, "five are said by both")
      for talk in talks {
        #expect(talk.entries == log)
        #expect(talk.pending.isEmpty)
        #expect(talk.refused.isEmpty)
      }
      talks.forEach { $0.end() }
    }

    @Test func `a line that is refused is no longer pending, and its reason is known`() throws {
      let relay = try RelayProcess("limits: { text_bytes: 20 }")
      let loop = try EventLoop()
      let clients = try ClientLoop(loop)
      let talk = Conversation(
        "general", Client.Configuration(url: try RelayURL(relay.url), user: "ada"), on: clients)
      talk.say("longer than the relay permits")
      talk.say("short")
      try run(loop, clients) { talk.pending.isEmpty }
      #expect(talk.entries.compactMap(\.text) == ["short"])
      #expect(talk.refused.map(\.text) == ["longer than the relay permits"])
      #expect(talk.refused.first?.reason.contains("20") == true)
    }

    @Test func `a filter reports what is spam, blocks its sender, and is told what is refused`()
      throws
    {
      let relay = try RelayProcess()
      let loop = try EventLoop()
      let clients = try ClientLoop(loop)
      let configuration = Client.Configuration(url: try RelayURL(relay.url), user: "ada")
      let filter = SpamFilter("watches", in: "general", configuration, on: clients)
      let bo = try RawClient(relay, user: "bo")
      try bo.say("cheap watches", in: "general", id: "1")
      try run(loop, clients) { filter.blocked == ["bo"] && filter.reported == [1] }
      filter.list()
      try run(loop, clients) { !filter.refusals.isEmpty }
      #expect(filter.refusals.first?.hasPrefix("Only moderators of general") == true)
      filter.end()
    }

    @Test func `whoever makes a room invites members, removes them, and is told what is refused`()
      throws
    {
      let relay = try RelayProcess()
      let loop = try EventLoop()
      let clients = try ClientLoop(loop)
      let url = try RelayURL(relay.url)
      let team = Team("Team", Client.Configuration(url: url, user: "ada"), on: clients)
      try run(loop, clients) { team.members == ["ada": .owner] }
      for user in ["bo", "cy"] { team.invite(user) }
      try run(loop, clients) { team.members.count == 3 }
      team.remove("cy", because: "spam")
      team.remove("ada", because: "it is time")
      try run(loop, clients) { team.members.count == 2 && !team.refusals.isEmpty }
      #expect(team.members == ["ada": .owner, "bo": .member])
      #expect(team.refusals.first?.contains("needs an owner") == true)
      let room = try #require(team.room)
      let log = try RawClient(relay, user: "bo").everything(in: room)
      #expect(log.compactMap(\.settings?.title) == ["Team"])
      #expect(log.compactMap(\.member?.reason) == ["spam"])
      team.end()
    }
  }
}

/// Takes turns until the condition is true.
private func run(
  _ loop: EventLoop, _ clients: ClientLoop, until isEnough: () -> Bool
) throws {
  let isTrue = becomesTrue {
    loop.runOnce(clients)
    return isEnough()
  }
  if !isTrue { throw Unexpected("the condition did not become true in time") }
}
