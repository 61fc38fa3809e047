import Testing
import Wire

@testable import Imports

@Suite struct `An export of Mattermost` {
  private let export: ExportFixture

  init() throws { export = try ExportFixture() }

  private static let start = [
    #"{"type":"version","version":1}"#,
    #"{"type":"team","team":{"name":"t","type":"O"}}"#,
    #"{"type":"channel","channel":{"team":"t","name":"town","display_name":"Town","type":"O","header":"h"}}"#,
    #"{"type":"channel","channel":{"team":"t","name":"board","type":"P"}}"#,
    #"{"type":"user","user":{"username":"ada","teams":[{"name":"t","channels":[{"name":"town","roles":"channel_user channel_admin"},{"name":"board","roles":"channel_user"}]}]}}"#,
    #"{"type":"user","user":{"username":"bo","teams":[{"name":"t","channels":[{"name":"board","roles":"channel_admin channel_user"}]}]}}"#,
  ]

  private func post(
    _ text: String, at time: Int, by user: String = "ada", in channel: String = "town",
    more: String = ""
  ) -> String {
    #"{"type":"post","post":{"team":"t","channel":"\#(channel)","user":"\#(user)","message":"\#(text)","create_at":\#(time)\#(more)}}"#
  }

  private func convert(_ lines: [String]) throws -> ExportFixture.Converted {
    try export.write((Self.start + lines).joined(separator: "\n") + "\n", to: "data.jsonl")
    return try export.convert(.mattermost, "\(export.path)/data.jsonl")
  }

  @Test func `is sorted by time, with replies among the other messages`() throws {
    let converted = try convert([
      post("last", at: 1_577_880_004_000),
      post(
        "root", at: 1_577_880_001_000,
        more:
          #","reactions":[{"user":"bo","emoji_name":"+1"},{"user":"ada","emoji_name":"+1"}],"#
          + #""replies":[{"user":"bo","message":"late","create_at":1577880003000,"#
          + #""attachments":[{"path":"data/x/plan.pdf"}]}]"#),
      post("between", at: 1_577_880_002_000),
    ])
    #expect(
      converted.texts(in: "town") == ["root", "between", "late\n[file] plan.pdf", "last"])
    let entries = converted.entries.filter { $0.room == "town" }
    let root = try #require(entries.first { $0.text == "root" })
    #expect(entries.first { $0.text?.hasPrefix("late") == true }?.replyTo == root.seq)
    #expect(entries.filter { $0.kind == .react }.map(\.from) == ["bo", "ada"])
    #expect(root.id == "mattermost-1577880001000")
    #expect(entries.first?.settings?.title == "Town")
    #expect(entries.first?.settings?.topic == "h")
  }

  @Test func `messages of one millisecond keep their order and differ`() throws {
    let at = 1_577_880_001_000
    let converted = try convert([post("a", at: at), post("b", at: at), post("c", at: at)])
    #expect(converted.texts(in: "town") == ["a", "b", "c"])
    #expect(
      converted.entries.filter { $0.kind == .text }.map(\.id)
        == ["", "-2", "-3"].map { "mattermost-\(at)\($0)" })
  }

  @Test func `private channels and conversations stay so`() throws {
    let converted = try convert([
      post("psst", at: 1_577_880_001_000, in: "board"),
      #"{"type":"direct_channel","direct_channel":{"members":["bo","ada"]}}"#,
      #"{"type":"direct_post","direct_post":{"channel_members":["ada","bo"],"user":"bo","message":"dm","create_at":1577880002000}}"#,
      #"{"type":"direct_post","direct_post":{"channel_members":["ada","bo","cy"],"user":"cy","message":"three","create_at":1577880002000}}"#,
      post("nowhere", at: 1_577_880_001_000, in: "unlisted"),
    ])
    #expect(converted.rooms == ["board", "dm:ada:bo", "ada-bo-cy"])
    for room in ["board", "ada-bo-cy"] {
      #expect(converted.entries.first { $0.room == room }?.settings?.access == .private)
    }
    #expect(converted.entries.first { $0.room == "board" }?.from == "bo")
    #expect(converted.report.contains("1: posts of channels that the export does not list"))
  }

  @Test func `channels of several teams have the team in their names`() throws {
    let converted = try convert([
      #"{"type":"channel","channel":{"team":"u","name":"town","type":"O"}}"#,
      post("a", at: 1_577_880_001_000),
      #"{"type":"post","post":{"team":"u","channel":"town","user":"ada","message":"b","create_at":1577880001000}}"#,
    ])
    #expect(converted.texts(in: "t:town") == ["a"])
    #expect(converted.texts(in: "u:town") == ["b"])
  }

  @Test(arguments: ["-1", "0", "253402300800000", "1e400", "\"2020\"", "null", "{}"])
  func `a message with a time that is none is left out, and its line is told`(time: String) throws {
    let broken =
      #"{"type":"post","post":{"team":"t","channel":"town","user":"ada","message":"x","create_at":"#
      + #"\#(time),"replies":[{"user":"bo","message":"reply","create_at":1577880002000},"#
      + #"{"user":"bo","message":"y","create_at":\#(time)}]}}"#
    let converted = try convert([post("before", at: 1_577_880_001_000), broken])
    #expect(converted.texts(in: "town") == ["before", "reply"])
    #expect(
      converted.report.contains(
        "  2: their time is no time, or in the future; the first: \(export.path)/data.jsonl, "
          + "line \(Self.start.count + 2)\n"), "\(converted.report)")
    #expect(converted.report.contains("  1: replies without what they reply to\n"))
  }

  @Test func `an archive is read as well`() throws {
    let lines = (Self.start + [post("in a zip", at: 1_577_880_001_000)]).joined(separator: "\\n")
    let path = try export.archive(
      "z.writestr('import.jsonl', r'''\(lines)'''.replace(r'\\n', chr(10)))")
    #expect(try export.convert(.mattermost, path).texts(in: "town") == ["in a zip"])
  }

  @Test(arguments: [
    ("{", "is not an object of JSON with a type"),
    (
      #"{"type":"post","post":{"team":"t","channel":"town","message":"x"}}"#,
      "is a post without a user"
    ),
    (
      #"{"type":"post","post":{"team":"t","channel":"town","user":"ada","create_at":1,"replies":[{"user":"bo"},{}]}}"#,
      "has a reply without a user, number 2 of them"
    ),
    (#"{"type":"post","post":{}}"#, "is a post without a team or channel"),
    (#"{"type":"user","user":{}}"#, "is a user without a username"),
    (#"{"type":"direct_post","direct_post":{}}"#, "is a direct post without channel_members"),
  ])
  func `a line that cannot be read is named by its number`(line: String, reason: String) throws {
    try export.write((Self.start + [line]).joined(separator: "\n"), to: "data.jsonl")
    let failure = try #require(export.failure(.mattermost))
    #expect(failure.line == Self.start.count + 1)
    #expect(failure.file == "\(export.path)/data.jsonl")
    #expect(failure.reason.hasPrefix(reason), "\(failure)")
  }

  @Test func `another version is refused`() throws {
    try export.write(#"{"type":"version","version":2}"#, to: "data.jsonl")
    #expect(export.failure(.mattermost)?.line == 1)
  }

  @Test func `a line beyond the limit is refused before it is held`() throws {
    let line = [UInt8](repeating: UInt8(ascii: " "), count: ImportLimits.jsonLineBytes + 1)
    try export.write(Array(Self.start[0].utf8) + [10] + line + [10], to: "data.jsonl")
    let failure = export.failure(.mattermost)
    #expect(failure?.line == 2)
    #expect(failure?.reason == "is longer than \(ImportLimits.jsonLineBytes) bytes")
  }
}
