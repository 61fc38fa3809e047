import Glibc
import TestSupport
import Testing

@testable import WschatCommand

@Suite struct `Files of this machine` {
  @Test func `are saved under a free name in a folder, and never over another file`() throws {
    let folder = try TemporaryFolder()
    try folder.write("mine", to: "a.tar.gz")
    try folder.write("half", to: "a.tar-2.gz.part")
    #expect(try LocalFile.reserve("a.tar.gz", at: folder.path) == folder["a.tar-3.gz"])
    #expect(try LocalFile.reserve("new", at: "\(folder.path)/") == "\(folder.path)/new")
    #expect(try LocalFile.reserve("new", at: folder.path) == folder["new-2"])
    #expect(try LocalFile.reserve(".hidden", at: folder.path) == folder[".hidden"])
    #expect(try LocalFile.reserve("b", at: folder["other"]) == folder["other"])
    let refusal = #expect(throws: LocalFile.NotSaved.self) {
      _ = try LocalFile.reserve("b", at: folder["a.tar.gz"])
    }
    #expect(refusal.map { "\($0)" }?.contains("a.tar.gz exists already") == true)
    #expect(throws: LocalFile.NotSaved.self) {
      _ = try LocalFile.reserve("b", at: folder["none/b"])
    }
    #expect(try folder.read("a.tar.gz") == "mine")
    #expect(try folder.read("a.tar-2.gz.part") == "half")
  }

  /// 255 bytes are the most that Linux takes, and the relay.
  @Test(arguments: [
    ("plan.txt", "plan.txt"),
    (String(repeating: "x", count: 255), String(repeating: "x", count: 242)),
    (
      "\(String(repeating: "\u{1F600}", count: 62)).tar.gz",
      "\(String(repeating: "\u{1F600}", count: 59)).gz"
    ),
    ("x.\(String(repeating: "y", count: 253))", "x.\(String(repeating: "y", count: 240))"),
    ("x\(String(repeating: "\u{301}", count: 127))", "file"), ("a/../b", "b"), ("..", "file"),
  ])
  func `of messages are kept under names that leave room for those of copies`(
    name: String, kept: String
  ) throws {
    #expect(LocalFile.keptName(name) == kept)
    let folder = try TemporaryFolder()
    for _ in 1...2 {
      let place = try LocalFile.reserve(kept, at: folder.path)
      try folder.write("", to: "\(place.dropFirst(folder.path.count + 1))-99.part")
    }
  }

  @Test(arguments: [
    (".bash_profile", "bash_profile"), ("..a", "a"), ("-rf", "rf"), (" -.x.txt", "x.txt"),
    ("a. .", "a"), ("a.tar.gz ", "a.tar.gz"), (".\u{301}profile", "\u{301}profile"),
    ("\u{3000}.x", "x"), ("...", "file"), ("- -", "file"), ("a-b.c", "a-b.c"),
    ("\(String(repeating: "x", count: 241)) yyyyy", String(repeating: "x", count: 241)),
  ])
  func `of messages are kept under names that neither hide them nor are options`(
    name: String, kept: String
  ) {
    #expect(LocalFile.keptName(name) == kept)
  }

  @Test func `are offered by their beginning, without hidden ones and those that cannot be typed`()
    throws
  {
    let folder = try TemporaryFolder()
    for name in ["apple", "apply", "banana", ".secret", "ap\u{1B}x"] {
      try folder.write("", to: name)
    }
    unsafe mkdir(folder["apps"], 0o700)
    #expect(
      LocalFile.paths(for: folder["ap"]) == [
        folder["apple"], folder["apply"], "\(folder["apps"])/",
      ])
    #expect(LocalFile.paths(for: folder[".s"]) == [folder[".secret"]])
    #expect(LocalFile.paths(for: "\(folder.path)/").count == 4)
    #expect(LocalFile.paths(for: folder["none/x"]) == [])
    for number in 0..<20 { try folder.write("", to: "many-\(number)") }
    #expect(LocalFile.paths(for: folder["many"]).count == LocalFile.offeredLimit)
  }

  @Test(arguments: [
    ("run.sh", "", true), ("Setup.EXE", "", true), ("x.desktop", "", true),
    ("photo", "#!/bin/sh", true),
    ("photo.png", "\u{7F}ELF", true), ("notes.txt", "# hi\n[Desktop Entry]\nExec=x", true),
    ("photo.png", "\u{89}PNG", false), ("report.pdf", "%PDF-1.7", false), ("sh", "", false),
    ("archive.tar", "", false),
  ])
  func `that may be programs are known by name or content`(
    name: String, content: String, isRunnable: Bool
  ) throws {
    let folder = try TemporaryFolder()
    try folder.write(content, to: name)
    #expect(RunnableFile.isOne(folder[name]) == isRunnable)
  }
}
