import Mixing
import Testing
import Wire

@testable import Moderation

/// A room and its users, as a log would apply its entries.
private struct Play {
  var rules: RoomRules
  var standings: [String: Standing] = [:]
  var seq: Int64 = 1
  /// Milliseconds since 1970.
  var now: Int64 = 1_790_000_000_000

  /// A room of ada's.
  init(_ change: (inout RoomSettings.Change) -> Void = { _ in }) {
    var settings = RoomSettings.Change()
    change(&settings)
    let owner: Standing
    (rules, owner) = RoomRules.created(with: settings, at: 1, now)
    standings["ada"] = owner
  }

  /// A private room.
  static var `private`: Play { Play { $0.access = .private } }

  subscript(user: String) -> Standing { standings[user] ?? .unnamed }

  func role(_ user: String) -> Role { self[user].role(now) }

  func actor(_ user: String) -> RoomRules.Actor {
    RoomRules.Actor(user, self[user], isOperator: user == "root")
  }

  mutating func set(
    _ user: String, _ role: Role, by actor: String, until: Int64? = nil
  ) throws(RoomRules.Refusal) {
    let standing = try rules.setRole(
      of: user, self[user], to: role, Standing.Term(until: until), by: self.actor(actor),
      at: seq + 1, now: now)
    standings[user] = standing
    seq += 1
  }

  mutating func change(
    by user: String, _ body: (inout RoomSettings.Change) -> Void
  ) throws(RoomRules.Refusal) {
    var change = RoomSettings.Change()
    body(&change)
    try rules.change(change, by: actor(user), now: now)
    seq += 1
  }

  func send(
    _ deed: RoomRules.Deed = .text, by user: String, lastTextAt: Int64? = nil
  ) throws(RoomRules.Refusal) {
    try rules.checkSending(deed, by: actor(user), lastTextAt: lastTextAt, now: now)
  }

  func firstReadable(by user: String) -> Int64? {
    rules.firstReadable(by: actor(user), now: now)
  }
}

private func refusal(_ body: () throws -> Void) -> RoomRules.Refusal? {
  do {
    try body()
    return nil
  } catch let error as RoomRules.Refusal {
    return error
  } catch {
    preconditionFailure("rules throw nothing else")
  }
}

@Suite struct `A private room` {
  private var room = Play.private

  @Test func `does not exist for those who are not let in, whatever they try`() {
    var room = room
    for user in ["eve", "bo"] {
      if user == "bo" { #expect(refusal { try room.set("bo", .banned, by: "ada") } == nil) }
      #expect(room.firstReadable(by: user) == nil)
      #expect(
        refusal { try room.rules.checkReading(by: room.actor(user), now: room.now) } == .noSuchRoom)
      for deed in [RoomRules.Deed.text, .content, .change, .deletion] {
        #expect(refusal { try room.send(deed, by: user) } == .noSuchRoom)
      }
      #expect(refusal { try room.change(by: user) { $0.title = "mine" } } == .noSuchRoom)
      for role in Role.allCases {
        #expect(refusal { try room.set(user, role, by: user) } == .noSuchRoom, "\(role)")
        #expect(refusal { try room.set("ada", role, by: user) } == .noSuchRoom, "\(role)")
      }
    }
    #expect(room.rules.counts.owners == 1)
  }

  @Test func `is entered by a member entry, and left for good`() throws {
    var room = room
    try room.set("bo", .member, by: "ada")
    try room.send(by: "bo")
    try room.set("bo", .none, by: "bo")
    #expect(refusal { try room.send(by: "bo") } == .noSuchRoom)
    #expect(refusal { try room.set("bo", .member, by: "bo") } == .noSuchRoom)
  }

  @Test func `shows members what was sent since they were let in, if it is so set`() throws {
    var room = room
    try room.change(by: "ada") { $0.history = .joined }
    room.seq = 40
    try room.set("bo", .member, by: "ada")
    #expect(room.firstReadable(by: "bo") == 41)
    // A change of the role is no entrance.
    room.seq = 50
    try room.set("bo", .moderator, by: "ada")
    try room.set("bo", .muted, by: "ada")
    #expect(room.firstReadable(by: "bo") == 41)
    room.seq = 60
    try room.set("bo", .none, by: "ada")
    try room.set("bo", .member, by: "ada")
    #expect(room.firstReadable(by: "bo") == 62)
    try room.change(by: "ada") { $0.history = .all }
    #expect(room.firstReadable(by: "bo") == 1)
  }
}

@Suite struct `Roles in a room` {
  private var room = Play()

  init() throws {
    for (user, role) in [("mo", Role.moderator), ("max", .moderator), ("bo", .member)] {
      try room.set(user, role, by: "ada")
    }
  }

  @Test func `let a moderator act on those below, and on no one else`() throws {
    let allowed: Set<Role> = [.member, .muted, .none, .banned]
    for role in Role.allCases {
      for user in ["bo", "guest"] {
        var room = room
        let found = refusal { try room.set(user, role, by: "mo") }
        #expect((found == nil) == allowed.contains(role), "\(user) \(role)")
        if found == nil { #expect(room.role(user) == role) }
      }
      for user in ["max", "ada"] {
        var room = room
        #expect(
          refusal { try room.set(user, role, by: "mo") } == .forbidden(reason: .notBelow),
          "\(user) \(role)")
      }
    }
  }

  @Test func `let an owner do everything, and owners each other`() throws {
    for user in ["ada", "mo", "bo", "guest"] {
      for role in Role.allCases {
        var room = room
        try room.set("max", .owner, by: "ada")
        try room.set(user, role, by: "max")
        #expect(room.role(user) == role)
      }
    }
    var room = room
    try room.set("max", .owner, by: "ada")
    try room.set("ada", .none, by: "max")
    // The other one's entry comes second, and is no owner's any more.
    #expect(refusal { try room.set("max", .none, by: "ada") } == .forbidden(reason: .notAModerator))
  }

  @Test func `leave a room no fewer than one owner`() throws {
    var room = room
    for role in Role.allCases where role != .owner {
      #expect(
        refusal { try room.set("ada", role, by: "ada") } == .forbidden(reason: .lastOwner),
        "\(role)")
    }
    #expect(
      refusal { try room.set("ada", .none, by: "root") } == .forbidden(reason: .lastOwner))
    try room.set("mo", .owner, by: "ada")
    try room.set("ada", .none, by: "ada")
    #expect(room.rules.counts.owners == 1)
  }

  @Test func `are not of one's own choice`() throws {
    for (user, allowed) in [
      ("mo", [Role.none]), ("bo", [.none]), ("guest", [.none, .member]),
    ] {
      for role in Role.allCases {
        var room = room
        #expect(
          (refusal { try room.set(user, role, by: user) } == nil) == allowed.contains(role),
          "\(user) \(role)")
      }
    }
  }

  @Test func `keep a member from acting on others`() {
    var room = room
    for role in Role.allCases {
      #expect(
        refusal { try room.set("guest", role, by: "bo") } == .forbidden(reason: .notAModerator))
    }
    #expect(
      refusal { try room.change(by: "bo") { $0.topic = "x" } } == .forbidden(reason: .notAModerator)
    )
  }

  @Test func `let moderators change what is shown, and owners who reads`() throws {
    var room = room
    try room.change(by: "mo") {
      ($0.title, $0.topic, $0.posting, $0.slowSeconds) = ("T", "t", .moderators, 5)
    }
    #expect(
      refusal { try room.change(by: "mo") { $0.access = .private } }
        == .forbidden(reason: .notAnOwner))
    #expect(
      refusal {
        try room.change(by: "mo") {
          $0.title = "U"
          $0.history = .joined
        }
      } == .forbidden(reason: .notAnOwner))
    #expect(room.rules.settings.title == "T")
    try room.change(by: "ada") { ($0.access, $0.history) = (.private, .joined) }
    #expect(room.firstReadable(by: "guest") == nil)
    #expect(room.rules.settings.topic == "t")
  }

  @Test func `do not bind an operator of the relay`() throws {
    var room = room
    try room.set("mo", .owner, by: "root")
    try room.set("ada", .banned, by: "root")
    try room.change(by: "root") { $0.access = .private }
    try room.send(by: "root")
    #expect(room.firstReadable(by: "root") == 1)
  }
}

@Suite struct `A user who is restrained` {
  private var room = Play()

  init() throws {
    try room.set("mo", .moderator, by: "ada")
    try room.set("bo", .member, by: "ada")
  }

  @Test func `may read and delete, and not send, until the mute ends`() throws {
    var room = room
    let end = room.now + 3_600_000
    try room.set("bo", .muted, by: "mo", until: end)
    for deed in [RoomRules.Deed.text, .content, .change] {
      #expect(
        refusal { try room.send(deed, by: "bo") } == .forbidden(until: end, reason: .muted))
    }
    try room.send(.deletion, by: "bo")
    #expect(room.firstReadable(by: "bo") == 1)
    room.now = end - 1
    #expect(room.role("bo") == .muted)
    room.now = end
    #expect(room.role("bo") == .member)
    try room.send(by: "bo")
  }

  @Test func `is not unmuted by leaving and coming back`() throws {
    var room = room
    let end = room.now + 3_600_000
    for by in ["bo", "mo"] {
      try room.set("bo", .muted, by: "mo", until: end)
      try room.set("bo", .none, by: by)
      try room.set("bo", .member, by: "bo")
      #expect(room.role("bo") == .muted)
      #expect(refusal { try room.send(by: "bo") } == .forbidden(until: end, reason: .muted))
    }
    #expect(
      refusal { try room.set("bo", .member, by: "bo") } == .forbidden(until: end, reason: .ownRole))
    try room.set("bo", .member, by: "mo")
    try room.send(by: "bo")
  }

  @Test func `is out of an open room until the ban ends, and cannot lift it`() throws {
    var room = room
    let end = room.now + 60_000
    try room.set("bo", .banned, by: "mo", until: end)
    let banned = RoomRules.Refusal.forbidden(until: end, reason: .banned)
    #expect(room.firstReadable(by: "bo") == nil)
    #expect(refusal { try room.send(by: "bo") } == banned)
    for role in Role.allCases { #expect(refusal { try room.set("bo", role, by: "bo") } == banned) }
    #expect(refusal { try room.send(.deletion, by: "bo") } == banned)
    room.now = end
    // It ends without an entry, and without making a member.
    #expect(room.role("bo") == .none)
    try room.send(by: "bo")
    try room.set("bo", .banned, by: "mo")
    room.now += 1_000_000_000_000
    #expect(room.role("bo") == .banned)
    #expect(room["bo"].until(room.now) == nil)
    try room.set("bo", .none, by: "mo")
    try room.send(by: "bo")
  }

  @Test func `waits between two texts in a slow room, and moderators do not`() throws {
    var room = room
    try room.change(by: "mo") { $0.slowSeconds = 30 }
    let last = room.now - 10_000
    #expect(
      refusal { try room.send(by: "bo", lastTextAt: last) } == .tooEarly(milliseconds: 20_000))
    for deed in [RoomRules.Deed.content, .change, .deletion] {
      try room.send(deed, by: "bo", lastTextAt: last)
    }
    try room.send(by: "mo", lastTextAt: last)
    room.now += 20_000
    try room.send(by: "bo", lastTextAt: last)
  }

  @Test func `reads and reacts where only moderators post`() throws {
    var room = room
    try room.change(by: "mo") { $0.posting = .moderators }
    for user in ["bo", "guest"] {
      for deed in [RoomRules.Deed.text, .content] {
        #expect(refusal { try room.send(deed, by: user) } == .forbidden(reason: .mayNotPost))
      }
      try room.send(.change, by: user)
      try room.send(.deletion, by: user)
    }
    try room.send(by: "mo")
  }

  @Test func `has entries that those above delete`() {
    let room = room
    func delete(_ author: String, by user: String) -> RoomRules.Refusal? {
      refusal {
        try room.rules.checkDeleting(entryOf: room[author], by: room.actor(user), now: room.now)
      }
    }
    #expect(delete("bo", by: "mo") == nil)
    #expect(delete("guest", by: "mo") == nil)
    #expect(delete("mo", by: "ada") == nil)
    #expect(delete("ada", by: "mo") == .forbidden(reason: .notBelow))
    #expect(delete("mo", by: "bo") == .forbidden(reason: .notAModerator))
  }
}

@Suite struct `A room without an owner` {
  @Test func `takes settings and members from an operator only`() throws {
    var rules = RoomRules()
    let now: Int64 = 1
    for user in ["ada", "root"] {
      let actor = RoomRules.Actor(user, .unnamed, isOperator: user == "root")
      let expected: RoomRules.Refusal? =
        user == "root" ? nil : .forbidden(reason: .notAModerator)
      var title = RoomSettings.Change()
      title.title = "T"
      #expect(refusal { try rules.change(title, by: actor, now: now) } == expected)
      #expect(
        refusal {
          _ = try rules.setRole(of: "bo", .unnamed, to: .owner, by: actor, at: 2, now: now)
        } == expected)
    }
    #expect(rules.counts.owners == 1)
  }
}

@Suite struct `Whatever is tried` {
  /// Everyone tries everything in random order; the promises are checked after each step.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `ranks hold`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var room = seed % 2 == 0 ? Play() : Play.private
    let users = ["ada", "bo", "cy", "di", "ed"]
    for _ in 0..<300 {
      room.now += Int64.random(in: 0...500, using: &random)
      let (actor, user) = (
        users.randomElement(using: &random)!, users.randomElement(using: &random)!
      )
      let role = Role.allCases.randomElement(using: &random)!
      let isTimed = (role == .muted || role == .banned) && Bool.random(using: &random)
      let until = isTimed ? room.now + Int64.random(in: 1...2000, using: &random) : nil
      let before = room
      guard refusal({ try room.set(user, role, by: actor, until: until) }) == nil else {
        #expect(room.rules == before.rules)
        continue
      }
      let own = before.role(actor)
      #expect(own != .banned)
      if actor != user {
        #expect(own == .owner || own == .moderator)
        if own == .moderator {
          #expect(before.role(user).rank < own.rank && role.rank < own.rank)
        }
      } else if own != .owner {
        #expect(room.role(user).rank <= own.rank || (own == .none && role == .member))
        #expect(own != .muted || room.role(user) == .muted || role == .none)
      }
      let owners = users.filter { room.role($0) == .owner }.count
      #expect(owners == room.rules.counts.owners && owners > 0)
      if room.rules.settings.access == .private {
        for user in users where !room[user].isMember(room.now) {
          #expect(room.firstReadable(by: user) == nil)
        }
      }
    }
  }
}
