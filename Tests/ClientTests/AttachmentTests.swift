import Client
import TestSupport
import Testing
import Wire

@testable import WschatCommand

/// The option `--attach`, and what lines say of files.
@Suite struct `Files in the lines of wschat` {
  private func wschat(
    _ relay: FileRelay, _ arguments: [String], input: String = "", home: String = "/"
  ) throws -> ChildProcess {
    let chat = try ChildProcess(
      [
        "/usr/bin/env", "-i", "TZ=UTC", "HOME=\(home)", Programs.path(of: "wschat"),
        "\(relay.configuration.url)", "--token", "secret", "--room", "den",
      ] + arguments, input: input)
    try chat.wait()
    return chat
  }

  @Test func `are sent before the first line, in their order, and printed with their address`()
    throws
  {
    let relay = try FileRelay(faults: ["PATCH cut=1"])
    let folder = try TemporaryFolder()
    try folder.write("abcdef", to: "a b.txt")
    try folder.write("two", to: "two")
    let chat = try wschat(
      relay, ["--attach", "~/a b.txt", "--attach", folder["two"]], input: "hello\n",
      home: folder.path)
    #expect(try chat.wait() == .exit(0))
    let url = "http://\(relay.configuration.url.authority)/under/v1/files"
    #expect(
      chat.output.split(separator: "\n") == [
        "00:00  ada  FILE a b.txt 6 \(url)/file-1", "00:00  ada  FILE two 3 \(url)/file-2",
        "00:00  ada  hello",
      ])
    #expect(chat.errors.contains("~/a b.txt: the connection was lost; retrying"))
    #expect(
      relay.seen().filter { $0.hasPrefix("send") } == [
        "send file-1 a b.txt", "send file-2 two", "send hello",
      ])
  }

  @Test func `that cannot be sent set the exit code, and the lines are sent all the same`() throws {
    let relay = try FileRelay(faults: ["POST 413 detail=at most 5 bytes"])
    let folder = try TemporaryFolder()
    try folder.write("abcdef", to: "large")
    let chat = try wschat(
      relay, ["--attach", folder["none"], "--attach", folder["large"], "--attach", folder.path],
      input: "hello\n")
    #expect(try chat.wait() == .exit(1))
    #expect(chat.output == "00:00  ada  hello\n")
    #expect(
      chat.errors == """
        wschat: the file \(folder["none"]) was not sent: No such file or directory
        wschat: the file \(folder["large"]) was not sent: at most 5 bytes
        wschat: the file \(folder.path) was not sent: Is a directory

        """)
  }

  @Test(
    arguments: [
      ("/tmp/a b.txt", "a b.txt"), ("a\u{1B}[2J\u{202E}.txt", "a_[2J_.txt"), ("/", "file"),
      ("..", "file"), ("\u{200F}", "_"), (String(repeating: "ä", count: 200), nil),
    ] as [(String, String?)])
  func `have a name that a relay accepts`(path: String, name: String?) {
    #expect(LocalFile.name(of: path) == name ?? String(repeating: "ä", count: 127))
    #expect(FileContent.isValid(name: LocalFile.name(of: path)))
  }

  @Test func `are one line, whatever the relay says of them`() throws {
    let relay = try RelayURL("wss://chat.example.org/team/ws?token=x")
    let file = FileContent(
      id: "f", name: "a\u{1B}\n\u{202E}b", caption: "look\nhere", replyTo: 7,
      description: .init(size: 12, mediaType: "image/png"))
    var entry = Entry(
      room: "den", seq: 9, id: "i", from: "bo", at: 0, kind: .file, body: file.body)
    let line = EntryLine.format(entry, from: relay, withSequence: true)
    #expect(line.hasPrefix("9  "))
    #expect(
      line.hasSuffix(
        "  bo  (reply to 7) FILE a⏎b 12 https://chat.example.org/team/v1/files/f look⏎here\n"))
    entry.body = entry.deletedBody()
    #expect(EntryLine.format(entry, from: relay).hasSuffix("  bo  (deleted)\n"))
  }
}
