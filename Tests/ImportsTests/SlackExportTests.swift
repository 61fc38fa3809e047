import Moderation
import Relay
import TestSupport
import Testing
import Wire

@testable import Imports

@Suite struct `An export of Slack` {
  private var export: ExportFixture

  init() throws {
    export = try ExportFixture()
    try export.write(
      """
      [{"id":"U1","name":"ada"},{"id":"U2","name":"Bo K."},{"id":"U3","name":"cy","deleted":true}]
      """, to: "users.json")
    try export.write(
      """
      [{"id":"C1","name":"general","creator":"U1","members":["U1","U2"],"topic":{"value":"All"}},
       {"id":"C2","name":"hidden","is_private":true,"members":["U2"]},
       {"id":"C3","name":"empty","creator":"U1","members":["U1"]}]
      """, to: "channels.json")
    try export.write(
      #"[{"id":"G1","name":"secret","creator":"U3","members":["U2","U1"]},{"id":"G2","name":"void"}]"#,
      to: "groups.json")
    try export.write(
      #"[{"id":"D1","members":["U3","U1"]},{"id":"D2","members":["U1"]}]"#, to: "dms.json")
    try export.write(
      #"[{"id":"M1","name":"mpdm-ada--bo--cy-1","members":["U1","U2","U3"]}]"#, to: "mpims.json")
    for folder in ["secret", "hidden", "D1", "D2", "mpdm-ada--bo--cy-1"] {
      try say(#"{"user":"U2","text":"of \#(folder)","ts":"1577880000.000100"}"#, in: folder)
    }
  }

  private func say(_ messages: String..., in folder: String, day: String = "2020-01-01") throws {
    try export.write("[\(messages.joined(separator: ","))]", to: "\(folder)/\(day).json")
  }

  @Test func `keeps texts, times, order, and the ids of its messages`() throws {
    try say(
      #"{"user":"U2","text":"two &amp; <@U1>","ts":"1577880002.000100"}"#,
      #"{"user":"U1","text":"one","ts":"1577880001.000100"}"#, in: "general")
    try say(
      #"{"user":"U1","text":"three","ts":"1577966400.000000"}"#, in: "general", day: "2020-01-02")
    let converted = try export.convert(.slack)
    #expect(converted.texts(in: "general") == ["one", "two & @ada", "three"])
    #expect(converted.senders(in: "general") == ["ada", "bo-k.", "ada"])
    let entries = converted.entries.filter { $0.room == "general" && $0.kind == .text }
    #expect(entries.map(\.at) == [1_577_880_001_000, 1_577_880_002_000, 1_577_966_400_000])
    #expect(entries[0].id == "slack-1577880001.000100")
    #expect(converted.report.contains("Bo K. as bo-k."))
  }

  @Test func `has replies, reactions and files`() throws {
    try say(
      #"{"user":"U1","text":"root","ts":"1577880001.000000","thread_ts":"1577880001.000000","#
        + #""reactions":[{"name":"+1::skin-tone-3","users":["U2","U3","U2"]},{"name":"our-own","users":["U1"]}]}"#,
      #"{"user":"U2","text":"reply","ts":"1577880002.000000","thread_ts":"1577880001.000000"}"#,
      #"{"user":"U2","text":"lost","ts":"1577880003.000000","thread_ts":"1500000000.000000"}"#,
      #"{"user":"U2","text":"","ts":"1577880004.000000","files":[{"name":"a.png","permalink":"https://f"}]}"#,
      in: "general")
    let converted = try export.convert(.slack)
    let entries = converted.entries.filter { $0.room == "general" }
    let root = try #require(entries.first { $0.text == "root" })
    #expect(entries.first { $0.text == "reply" }?.replyTo == root.seq)
    #expect(entries.first { $0.text == "lost" }?.replyTo == nil)
    let reactions = entries.filter { $0.kind == .react }
    #expect(reactions.compactMap(\.reaction?.emoji) == ["👍🏼", "👍🏼", ":our-own:"])
    #expect(reactions.map(\.from) == ["bo-k.", "cy", "ada"])
    #expect(reactions.allSatisfy { $0.target == root.seq })
    #expect(converted.texts(in: "general").last == "[file] a.png https://f")
    #expect(converted.report.contains("1: replies without what they reply to"))
  }

  @Test func `opens no private channel and no conversation`() throws {
    try say(#"{"user":"U1","text":"hi","ts":"1577880001.000000"}"#, in: "general")
    let converted = try export.convert(.slack)
    #expect(
      converted.rooms == ["general", "secret", "hidden", "mpdm-ada--bo--cy-1", "dm:ada:cy"])
    let access = converted.entries.reduce(into: [String: RoomSettings.Access]()) {
      if let access = $1.settings?.access { $0[$1.room] = access }
    }
    #expect(
      access == [
        "general": .open, "secret": .private, "hidden": .private, "mpdm-ada--bo--cy-1": .private,
      ])
    var standings: [String: Role] = [:]
    for case .standing(let line) in converted.lines where line.room == "secret" {
      standings[line.user] = line.standing.base
    }
    // Its creator has left.
    #expect(standings == ["bo-k.": .owner, "ada": .member])
    #expect(converted.report.contains("void: it is private, and no members are listed"))
    #expect(converted.report.contains("D2: a conversation is between two users here"))
    #expect(converted.report.contains("empty: it has no messages"))
  }

  @Test func `marks everything as read by the members`() throws {
    let converted = try export.convert(.slack)
    var marks: [String: Int64] = [:]
    for case .marks(let line) in converted.lines where line.room == "secret" {
      marks[line.user] = line.read
    }
    let head = converted.entries.filter { $0.room == "secret" }.map(\.seq).max()
    #expect(marks == ["ada": head, "bo-k.": head])
  }

  @Test
  func `keeps the names of those who have left an open room, and lets none into a private one`()
    throws
  {
    let message = #"{"user":"U3","text":"bye","ts":"1577880001.000000"}"#
    try say(message, in: "general")
    try say(message, in: "secret", day: "2020-01-02")
    let converted = try export.convert(.slack)
    var members: [String: Set<String>] = [:]
    for case .marks(let line) in converted.lines {
      members[line.room, default: []].insert(line.user)
    }
    #expect(members["general"] == ["ada", "bo-k.", "cy"])
    #expect(members["secret"] == ["ada", "bo-k."])
  }

  @Test func `leaves out notices, what is there twice, and times that are none`() throws {
    try say(
      #"{"user":"U1","subtype":"channel_join","text":"joined","ts":"1577880001.000000"}"#,
      #"{"user":"U1","text":"once","ts":"1577880002.000000"}"#,
      #"{"user":"U1","text":"once","ts":"1577880002.000000"}"#,
      #"{"user":"U1","text":"no time","ts":"yesterday"}"#,
      #"{"user":"U1","text":"in a year","ts":"99999999999.000000"}"#,
      #"{"user":"U1","text":" ","ts":"1577880003.000000"}"#,
      #"{"subtype":"bot_message","username":"Build Bot","text":"","ts":"1577880004.000000","#
        + #""attachments":[{"fallback":"it works"}]}"#,
      #"{"user":"U77","user_profile":{"name":"guest"},"text":"bye","ts":"1577880005.000000"}"#,
      #"{"user":"U78","text":"unknown","ts":"1577880006.000000"}"#, in: "general")
    let converted = try export.convert(.slack)
    #expect(converted.texts(in: "general") == ["once", "it works", "bye", "unknown"])
    #expect(converted.senders(in: "general") == ["ada", "build-bot", "guest", "u78"])
    for line in [
      "1: notices of Slack (channel_join)", "1: they are there twice",
      "2: their time is no time, or in the future; the first: "
        + "\(export.path)/general/2020-01-01.json, message 4\n",
      "1: they are empty; the first: \(export.path)/general/2020-01-01.json, message 6\n",
    ] { #expect(converted.report.contains(line), "\(converted.report)") }
  }

  @Test func `rooms of the store are left out, so that it can be repeated`() throws {
    var export = export
    export.existing = try export.convert(.slack).rooms
    #expect(!export.existing.isEmpty)
    let again = try export.convert(.slack)
    #expect(again.lines.isEmpty)
    #expect(again.report.contains("secret: the store already has a room secret"))
  }

  @Test func `some rooms can be chosen, and named`() throws {
    var export = export
    export.chat.selection = try RoomSelection(["secret=old:secret", "D1", "nowhere"])
    let converted = try export.convert(.slack)
    #expect(converted.rooms == ["old:secret", "dm:ada:cy"])
    #expect(converted.report.contains("hidden: --rooms does not name it"))
    #expect(converted.report.contains("nowhere: the export has no such room"))
    #expect(throws: UnreadableExport.self) { try RoomSelection(["a=dm:ada:bo"]) }
    #expect(throws: UnreadableExport.self) { try RoomSelection(["a=B c"]) }
  }

  @Test func `a table names people by their names or ids, and what it names in vain is told`()
    throws
  {
    var export = export
    try export.folder.write("Bo K. bob\nU1 countess\nbo bob\n", to: "people")
    export.chat.people = try PeopleTable(file: export.folder["people"])
    try say(
      #"{"user":"U1","text":"hi <@U2>","ts":"1577880001.000000"}"#,
      #"{"user":"U2","text":"yes","ts":"1577880002.000000"}"#, in: "general")
    let converted = try export.convert(.slack)
    #expect(converted.senders(in: "general") == ["countess", "bob"])
    #expect(converted.texts(in: "general")[0] == "hi @bob")
    #expect(
      converted.report.contains("Names of the table that the export does not have: 1\n  bo\n"))
  }

  @Test func `more rooms than the limit are refused, and the report stays short`() throws {
    func list(_ count: Int) -> String {
      "[" + (0..<count).map { #"{"id":"C\#($0)","name":"r\#($0)"}"# }.joined(separator: ",") + "]"
    }
    try export.write(list(ImportLimits.rooms), to: "channels.json")
    #expect(export.failure(.slack)?.reason.contains("or \(ImportLimits.rooms) rooms") == true)
    try export.write(list(2 * ImportLimits.reportLines), to: "channels.json")
    let report = try export.convert(.slack).report
    #expect(report.split(separator: "\n").count < ImportLimits.reportLines + 100)
    #expect(report.contains("  and 1002 more"), "\(report.suffix(100))")
  }

  @Test func `two rooms of one name stay two`() throws {
    try export.write(
      #"[{"id":"C1","name":"Café","members":["U1"]},{"id":"C2","name":"cafe","members":["U1"]}]"#,
      to: "channels.json")
    try say(#"{"user":"U1","text":"a","ts":"1577880001.000000"}"#, in: "Café")
    try say(#"{"user":"U1","text":"b","ts":"1577880001.000000"}"#, in: "cafe")
    let converted = try export.convert(.slack)
    #expect(converted.texts(in: "cafe") == ["a"])
    #expect(converted.texts(in: "cafe-2") == ["b"])
  }

  @Test(arguments: [
    ("[{]", 1), ("[{\"ts\":\"1\"},\n{\"ts\":\"2\"},\n{\"ts\":\n\n", 5), ("\u{0}", 1),
    ("[" + String(repeating: "[", count: 10_000), 1), ("[]\n[]", 2),
  ])
  func `a file that is no JSON is named, with the line`(text: String, line: Int) throws {
    try export.write(text, to: "secret/2020-01-02.json")
    let failure = try #require(export.failure(.slack))
    #expect(failure.file == "\(export.path)/secret/2020-01-02.json")
    #expect(failure.line == line)
    #expect(failure.reason == "is not JSON")
  }

  @Test func `a file that is no list is named`() throws {
    try export.write("{}", to: "secret/2020-01-02.json")
    let failure = export.failure(.slack)
    #expect(failure?.file == "\(export.path)/secret/2020-01-02.json")
    #expect(failure?.reason == "is not a list in JSON")
  }

  @Test func `elements of any type are left out or replaced, and break nothing`() throws {
    try export.write(
      """
      [1, null, "a", [], {}, {"ts":1}, {"ts":"1577880001.000000","user":7,"text":{},"reactions":{}},
       {"ts":"1577880002.000000","user":"U1","text":"\\ud800 x","reactions":[{"name":"","users":3},1]}]
      """, to: "general/2020-01-01.json")
    #expect(try export.convert(.slack).texts(in: "general") == ["\u{FFFD} x"])
  }

  @Test func `a folder without lists is none`() throws {
    let export = try ExportFixture()
    try export.write("[]", to: "people.json")
    #expect(export.failure(.slack)?.reason.hasPrefix("is no export of Slack") == true)
  }
}
