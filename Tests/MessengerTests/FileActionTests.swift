import Client
import Terminal
import Testing
import Wire

@testable import Messenger

/// What is done with the files of messages.
@Suite struct `Files of messages` {
  private static let id = String(repeating: "f", count: 22)

  private static func file(_ name: String = "a.pdf", id: String = Self.id) -> FileContent {
    FileContent(
      id: id, name: name, description: FileDescription(size: 34, mediaType: "application/pdf"))
  }

  private func talking(_ file: FileContent) -> Harness {
    var harness = Harness.talking()
    harness.entry(1, .init(room: Harness.room, id: "f", file: file))
    harness.entry(2, "thanks")
    harness.effects = []
    return harness
  }

  @Test func `are opened and saved, and their links copied, by keys on the message`() {
    var harness = talking(Self.file())
    harness.press(Key(.up, .shift), Key(.up))
    harness.type("O")
    harness.type("s")
    harness.type("L")
    #expect(
      harness.effects.suffix(3) == [
        .openFile(Self.file()), .saveFile(Self.file(), to: nil),
        .copy("http://localhost/v1/files/\(Self.id)"),
      ])
    harness.press(Key(.down))
    harness.type("O")
    #expect(harness.chat.notice?.text == "This message has no file.")
  }

  @Test(
    arguments: [
      ("/open", .openFile(file())), ("/save", .saveFile(file(), to: nil)),
      ("/save '~/my papers/'", .saveFile(file(), to: "~/my papers/")),
      ("/link", .copy("http://localhost/v1/files/\(id)")),
    ] as [(String, Effect)])
  func `of which commands take the newest`(command: String, effect: Effect) {
    var harness = talking(Self.file())
    harness.type(command)
    harness.press(Key(.enter))
    #expect(harness.effects.contains(effect))
    #expect(harness.chat.composer.isEmpty)
  }

  @Test func `without a file, or with two paths, a command says so`() {
    var harness = Harness.talking()
    harness.type("/open")
    harness.press(Key(.enter))
    #expect(harness.chat.notice?.text == "There is no file in what is loaded here.")
    harness = talking(Self.file())
    harness.type("/save a b")
    harness.press(Key(.enter))
    #expect(harness.chat.notice?.text.hasPrefix("Write one path") == true)
    #expect(harness.chat.composer.text == "/save a b")
  }

  @Test(arguments: ["a b", "a\r\nHost: x", "../tokens", "", String(repeating: "a", count: 129)])
  func `an id that would change the request is not requested`(id: String) {
    var harness = talking(Self.file(id: id))
    for key in ["O", "s", "L"] {
      harness.press(Key(.up, .shift), Key(.up))
      harness.type(key)
    }
    #expect(
      harness.effects.allSatisfy {
        switch $0 {
        case .openFile, .saveFile, .copy: false
        default: true
        }
      })
    #expect(harness.chat.notice?.isError == true)
  }

  @Test func `what may be a program is opened after a yes only`() {
    var harness = talking(Self.file())
    harness.take(.programFound(name: "run.sh", path: "/tmp/x/run.sh"))
    #expect(picture(harness.chat.draw(.plain)).contains("Open what may be a program?"))
    harness.type("n")
    #expect(!harness.effects.contains(.openCopy(name: "run.sh", path: "/tmp/x/run.sh")))
    harness.take(.programFound(name: "run.sh", path: "/tmp/x/run.sh"))
    harness.type("y")
    #expect(harness.effects.contains(.openCopy(name: "run.sh", path: "/tmp/x/run.sh")))
  }

  @Test func `no name of one reaches the terminal with what could change it`() {
    let harness = talking(Self.file("a\u{1B}]52;c;eA==\u{7}\u{202E}fdp.exe\nx"))
    let shown = picture(harness.chat.draw(.plain))
    #expect(shown.contains("a]52;c;eA==fdp.exe"))
    #expect(
      !shown.unicodeScalars.contains { $0 != "\n" && ($0.value < 0x20 || $0.value == 0x202E) })
  }
}
