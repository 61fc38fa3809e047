import Glibc
import Media
import Platform
import TestSupport
import Testing

@testable import PictureProcessing

/// A decoder that a picture has taken over can write and say whatever it likes.
@Suite struct `Reports that are not believed` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write("input", to: "input")
  }

  private func process(
    _ script: String, timeoutMilliseconds: Int = 60_000
  ) throws -> Result<ProcessedPicture, PictureProcessor.NotAPicture> {
    try folder.write("#!/bin/sh\n\(script)\n", to: "decoder")
    _ = unsafe chmod(folder["decoder"], 0o700)
    return try PictureFiles.process(
      folder["input"],
      by: PictureProcessor(path: folder["decoder"], timeoutMilliseconds: timeoutMilliseconds),
      into: folder["output"])
  }

  private static let jpeg = #"printf '\377\330\377' >&3; "#
  private static let webp = #"printf 'RIFF....WEBPVP8 ' >&4; "#
  /// 16 by 16 pixels, the thumbnail, too, and a placeholder.
  private static let report = #"printf '\0J\0\020\0\020\0\020\0\020abcde'"#

  @Test func `what is plausible is believed`() throws {
    #expect(
      try process(Self.jpeg + Self.webp + Self.report)
        == .success(
          ProcessedPicture(
            mediaType: .jpeg, width: 16, height: 16,
            thumbnail: ProcessedPicture.Thumbnail(
              width: 16, height: 16, placeholder: Array("abcde".utf8)))))
  }

  @Test(arguments: [
    "", "printf x", report, jpeg + report, webp + report,
    "echo '<script>' >&3; " + webp + report, "echo '<script>' >&4; " + jpeg + report,
    jpeg + webp + #"printf '\0W\0\020\0\020\0\020\0\020abcde'"#,
    jpeg + webp + #"printf '\0J\377\020\0\020\0\020\0\020abcde'"#,
  ])
  func `what is not is no picture`(script: String) throws {
    #expect(try process(script) == .failure(.implausible))
  }

  @Test func `a decoder that dies, talks on or does not end gives no picture`() throws {
    let whole = Self.jpeg + Self.webp + Self.report + "; "
    #expect(try process(whole + "exit 3") == .failure(.failed(.ended(.exit(3)))))
    #expect(
      try process(whole + "kill -11 $$") == .failure(.failed(.ended(.signal(SIGSEGV)))))
    #expect(try process(whole + "yes") == .failure(.failed(.outputTooLong)))
    #expect(
      try process(whole + "exec sleep 60", timeoutMilliseconds: 200)
        == .failure(.failed(.tookTooLong)))
  }

  @Test func `a decoder inherits no variable and no descriptor but its files`() throws {
    // Without O_CLOEXEC.
    let forgotten = unsafe open(folder["forgotten"], O_RDWR | O_CREAT, 0o600)
    defer { close(forgotten) }
    _ = try process("readlink /proc/$$/fd/* >&3; env >&4")
    // The shell has opened its script, too.
    let files = try folder.read("output.picture").split(separator: "\n")
    let own = ["/input", "/output.picture", "/output.thumbnail", "/dev/null", "/decoder"]
    #expect(files.count >= 5)
    #expect(
      files.allSatisfy { file in file.hasPrefix("pipe:") || own.contains { file.hasSuffix($0) } },
      "\(files)")
    #expect(
      try folder.read("output.thumbnail").split(separator: "\n").filter { !$0.hasPrefix("PWD=") }
        .allSatisfy { $0.hasPrefix("_=") })
  }

  @Test func `a decoder that is missing is named, with where it is looked for`() {
    #expect(
      throws: PictureProcessor.NotAPicture.failed(
        .notStarted(SystemError("start /no/such", code: ENOENT)))
    ) {
      try PictureFiles.process(
        folder["input"], by: PictureProcessor(path: "/no/such", timeoutMilliseconds: 1000),
        into: folder["output"]
      ).get()
    }
  }
}
