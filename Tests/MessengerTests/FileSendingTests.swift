import Client
import Terminal
import Testing
import Wire

@testable import Messenger

/// `/send`, a dropped path, and what becomes of an upload.
@Suite struct `Sending files` {
  private static let report = ChosenFile(
    path: "~/report.pdf", name: "report.pdf", sizeBytes: 12_000_000)
  private static let photo = ChosenFile(path: "photo.png", name: "photo.png", sizeBytes: 999)

  /// Writes a command, and answers what it asks the driver.
  private func send(
    _ command: String, _ files: [ChosenFile] = [report], problem: String? = nil,
    in harness: inout Harness
  ) {
    harness.effects = []
    harness.type(command)
    harness.press(Key(.enter))
    for case .findFiles(let choice) in harness.effects {
      harness.take(.filesFound(choice, files, problem: problem))
    }
  }

  private func uploads(_ harness: Harness) -> [(file: ChosenFile, id: String)] {
    harness.effects.compactMap {
      if case .upload(let file, let id, let room, _) = $0, room == Harness.room {
        (file, id)
      } else {
        nil
      }
    }
  }

  private func held(_ harness: Harness) -> [ClientMessage.Send] {
    harness.effects.compactMap { if case .sendHeld(let send) = $0 { send } else { nil } }
  }

  @Test func `the line shows how much the relay has, and becomes a message when it has all`() throws
  {
    var harness = Harness.talking()
    send("/send ~/report.pdf -- the  plan", in: &harness)
    #expect(harness.chat.composer.isEmpty)
    let upload = try #require(uploads(harness).first)
    #expect(upload.file == Self.report)
    #expect(harness.texts == ["report.pdf 0.0 of 12 MB\nthe  plan"])
    harness.take(.upload(id: upload.id, .progressed(bytes: 3_149_999)))
    #expect(harness.texts == ["report.pdf 3.1 of 12 MB\nthe  plan"])
    harness.take(.upload(id: upload.id, .waiting("the connection was lost")))
    #expect(
      harness.texts == ["report.pdf 3.1 of 12 MB · the connection was lost; retrying\nthe  plan"])
    #expect(harness.sent.isEmpty)
    harness.take(.upload(id: upload.id, .uploaded(file: "f1")))
    let sent = try #require(harness.sent.first)
    #expect(
      sent
        == ClientMessage.Send(
          room: Harness.room, id: upload.id,
          file: FileContent(id: "f1", name: "report.pdf", caption: "the  plan")))
    #expect(harness.states == [.waiting])
    harness.acknowledge(sent, seq: 1)
    harness.entry(
      1, from: "ada",
      .init(
        room: Harness.room, id: sent.id,
        file: FileContent(
          id: "f1", name: "report.pdf", caption: "the  plan",
          description: .init(size: 12_000_000, mediaType: "application/pdf"))))
    #expect(harness.texts == ["report.pdf (12 MB)\nthe  plan"])
  }

  @Test func `what is written after a file is sent after it, and never waits for one that fails`()
    throws
  {
    var harness = Harness.talking()
    send("/send a b", [Self.report, Self.photo], in: &harness)
    harness.type("and now?")
    harness.press(Key(.enter))
    // One after the other, so that they are in their order.
    #expect(uploads(harness).map(\.file.name) == ["report.pdf"])
    #expect(harness.sent.isEmpty)
    harness.take(.upload(id: uploads(harness)[0].id, .uploaded(file: "f1")))
    #expect(harness.sent.map { $0.asEntry.file?.name } == ["report.pdf"])
    #expect(uploads(harness).map(\.file.name) == ["report.pdf", "photo.png"])
    #expect(held(harness).isEmpty)
    harness.take(.upload(id: uploads(harness)[1].id, .failed("the relay is full")))
    #expect(held(harness).map { $0.asEntry.text } == ["and now?"])
    #expect(harness.states == [.waiting, .failed("The relay is full"), .waiting])
    harness.type("next")
    harness.press(Key(.enter))
    #expect(harness.sent.last?.asEntry.text == "next")
  }

  @Test func `one that has failed is uploaded again, or discarded`() throws {
    var harness = Harness.talking()
    send("/send x", in: &harness)
    let id = uploads(harness)[0].id
    harness.take(.upload(id: id, .failed("the relay is full")))
    harness.press(Key(.up, .shift), Key(.character("R")))
    #expect(uploads(harness).map(\.id) == [id, id])
    #expect(harness.states == [.waiting])
    harness.type("x")
    #expect(harness.effects.contains(.cancelUpload(id: id)))
    #expect(harness.texts.isEmpty)
    // What still comes of it changes nothing.
    harness.take(.upload(id: id, .uploaded(file: "f1")))
    #expect(harness.sent.isEmpty)
  }

  @Test func `giving a file up sends what waited for it`() {
    var harness = Harness.talking()
    send("/send x", in: &harness)
    harness.type("hello")
    harness.press(Key(.enter))
    harness.press(Key(.up, .shift), Key(.up))
    harness.type("x")
    #expect(harness.texts == ["hello"])
    #expect(held(harness).map { $0.asEntry.text } == ["hello"])
  }

  @Test(arguments: [
    ("/send", "A file is missing"), ("/send 'a", "is not complete"),
    ("/send \(Array(repeating: "a", count: 21).joined(separator: " "))", "21 files; at most 20"),
  ])
  func `a command that cannot be read stays in the composer`(command: String, reason: String) {
    var harness = Harness.talking()
    send(command, in: &harness)
    #expect(harness.chat.notice?.text.contains(reason) == true)
    #expect(harness.chat.composer.text == command)
    #expect(uploads(harness).isEmpty)
  }

  @Test func `a file that is missing or too large is not begun`() {
    var harness = Harness.talking()
    send("/send x", [], problem: "x cannot be sent: No such file or directory.", in: &harness)
    #expect(harness.chat.notice?.text == "x cannot be sent: No such file or directory.")
    #expect(harness.chat.composer.text == "/send x")
    harness.chat.composer = TextEditor()
    harness.chat.fileLimitBytes = 1_000_000
    send("/send x", in: &harness)
    #expect(
      harness.chat.notice?.text == "report.pdf has 12 MB; the relay takes files of at most 1 MB.")
    #expect(uploads(harness).isEmpty)
  }

  @Test func `quitting asks while a file is on its way`() {
    var harness = Harness.talking()
    send("/send x", in: &harness)
    harness.press(Key(.character("q"), .control))
    #expect(harness.chat.overlay == .confirmQuitting)
    #expect(!harness.effects.contains(.quit))
    harness.type("y")
    #expect(harness.effects.contains(.quit))
  }

  @Test func `a file that is sent while a reply is open is the reply`() throws {
    var harness = Harness.talking()
    harness.entry(1, from: "bo", .init(room: Harness.room, id: "1", text: "where is it?"))
    harness.press(Key(.up, .shift), Key(.character("r")))
    send("/send a b -- here", [Self.report, Self.photo], in: &harness)
    #expect(harness.chat.composition == .new && harness.chat.composer.isEmpty)
    for file in ["f1", "f2"] {
      harness.take(.upload(id: try #require(uploads(harness).last).id, .uploaded(file: file)))
    }
    let contents = harness.sent.compactMap { $0.asEntry.file }
    #expect(contents.map(\.replyTo) == [1, nil])
    #expect(contents.map(\.caption) == [nil, "here"])
    #expect(harness.chat.timeline?.messages[1].quote?.seq == 1)
  }

  // MARK: An earlier run

  private func restored(
    _ uploads: [Chat.Outgoing], _ messages: [Chat.Outgoing] = []
  ) -> Harness {
    var harness = Harness()
    harness.take(
      .restored(
        .init(
          conversations: [Conversation(room: Harness.room, title: "bo", peer: "bo")], names: [:],
          outgoing: Chat.Outgoing.merge(messages, with: uploads))))
    harness.welcome()
    harness.open(Harness.room)
    return harness
  }

  private func earlier(_ id: String, at: Int64, problem: String? = nil) -> Chat.Outgoing {
    .init(
      send: .init(room: Harness.room, id: id, file: FileContent(id: "", name: Self.report.name)),
      at: at, file: Self.report, continuing: "f\(id)", problem: problem)
  }

  private func text(_ id: String, at: Int64, in room: String = Harness.room) -> Chat.Outgoing {
    .init(send: .init(room: room, id: id, text: id), at: at)
  }

  @Test func `an upload goes on, and what was written after it waits for it again`() throws {
    let messages = [text("before", at: 1), text("after", at: 3), text("else", at: 3, in: "den")]
    let merged = Chat.Outgoing.merge(messages, with: [earlier("1", at: 2), earlier("2", at: 2)])
    #expect(merged.map(\.send.id) == ["before", "1", "2", "after", "else"])
    #expect(merged.filter(\.isHeld).map(\.send.id) == ["after"])
    var harness = restored([earlier("1", at: 2), earlier("2", at: 2)], messages)
    let begun = harness.effects.compactMap {
      if case .upload(_, let id, _, let continued) = $0 { [id, continued] } else { nil }
    }
    #expect(begun == [["1", "f1"]])
    #expect(harness.texts.contains("report.pdf 0.0 of 12 MB"))
    for id in ["1", "2"] { harness.take(.upload(id: id, .uploaded(file: "f\(id)"))) }
    #expect(held(harness).map(\.id) == ["after"])
    #expect(harness.sent.map(\.id) == ["1", "2"])
  }

  @Test func `one whose file has changed is sent as it is now, and only if it is sent again`()
    throws
  {
    var harness = restored(
      [earlier("1", at: 2, problem: "The file has changed.")], [text("after", at: 3)])
    #expect(uploads(harness).isEmpty)
    #expect(harness.states == [.failed("The file has changed."), .waiting])
    harness.press(Key(.up, .shift), Key(.up), Key(.character("R")))
    #expect(harness.effects.contains(.upload(Self.report, id: "1", room: Harness.room)))
    let isKept = harness.effects.contains {
      if case .keepUpload(Self.report, _, id: "1", _, at: 2) = $0 { true } else { false }
    }
    #expect(isKept, "the next run would compare it with the file that it was")
  }

  @Test func `quitting asks only about uploads that would not go on`() throws {
    var harness = Harness.talking()
    send("/send x", in: &harness)
    harness.take(.upload(id: try #require(uploads(harness).first).id, .kept))
    harness.press(Key(.character("q"), .control))
    #expect(harness.effects.contains(.quit))
  }

  // MARK: A dropped path

  @Test(
    arguments: [
      ("'/home/ada/annual report.pdf'", "/home/ada/annual report.pdf"),
      ("/home/ada/annual\\ report.pdf ", "/home/ada/annual report.pdf"),
      ("\"/a\"\n", "/a"),
      ("/a /b", nil), ("report.pdf", nil), ("/", nil), ("'/a", nil), ("see /a", nil),
    ] as [(String, String?)])
  func `is one absolute path, quoted or not`(pasted: String, path: String?) {
    var harness = Harness.talking()
    harness.take(.input(.paste(pasted)))
    let asked = harness.effects.compactMap {
      if case .findFiles(let choice) = $0 { choice.paths } else { nil }
    }
    #expect(asked == (path.map { [[$0]] } ?? []))
    #expect(harness.chat.composer.isEmpty == (path != nil))
  }

  private func dropped(_ harness: inout Harness, problem: String? = nil) {
    let choice = FileChoice(purpose: .paste("/a/report.pdf"), paths: ["/a/report.pdf"])
    harness.take(.input(.paste("/a/report.pdf")))
    #expect(harness.effects.contains(.findFiles(choice)))
    harness.take(.filesFound(choice, problem == nil ? [Self.report] : [], problem: problem))
  }

  @Test func `is sent after a yes`() {
    var harness = Harness.talking()
    dropped(&harness)
    #expect(picture(harness.chat.draw(.plain)).contains("report.pdf (12 MB)"))
    harness.type("y")
    #expect(uploads(harness).map(\.file) == [Self.report])
    #expect(harness.chat.composer.isEmpty)
  }

  @Test(arguments: [Key(.escape), Key(.character("n")), Key(.character("x"))])
  func `is text after a no`(key: Key) {
    var harness = Harness.talking()
    dropped(&harness)
    harness.press(key)
    #expect(harness.chat.overlay == nil)
    #expect(harness.chat.composer.text == "/a/report.pdf")
    #expect(uploads(harness).isEmpty)
  }

  @Test func `is text at once if it is no file, or something is written already`() {
    var harness = Harness.talking()
    dropped(&harness, problem: "no such file")
    #expect(harness.chat.composer.text == "/a/report.pdf")
    #expect(harness.chat.notice == nil)
    harness.effects = []
    harness.take(.input(.paste("/a/report.pdf")))
    #expect(harness.chat.composer.text == "/a/report.pdf/a/report.pdf")
    #expect(harness.effects.allSatisfy { if case .findFiles = $0 { false } else { true } })
  }

  // MARK: Completion

  @Test func `Tab completes a path, with what a shell needs before a space`() {
    var harness = Harness.talking()
    harness.type("/send 'my pl")
    harness.press(Key(.tab))
    #expect(harness.effects.contains(.findPaths("my pl")))
    harness.take(.pathsFound(for: "my pl", ["my plan.txt", "my plots/"]))
    #expect(harness.chat.completion?.candidates.map(\.label) == ["my plan.txt", "my plots/"])
    harness.press(Key(.enter))
    #expect(harness.chat.composer.text == "/send my\\ plan.txt ")
    harness.press(Key(.tab))
    harness.take(.pathsFound(for: "", ["only/"]))
    // A folder goes on.
    #expect(harness.chat.composer.text == "/send my\\ plan.txt only/")
    // An answer that is late changes nothing.
    harness.take(.pathsFound(for: "my pl", ["my plan.txt"]))
    #expect(harness.chat.completion == nil)
  }

  @Test func `after the files it completes names again, for the caption`() {
    var harness = Harness.talking()
    harness.type("/send a -- hi @b")
    harness.press(Key(.tab))
    #expect(harness.effects.allSatisfy { if case .findPaths = $0 { false } else { true } })
    #expect(harness.chat.composer.text == "/send a -- hi @bo ")
  }
}
