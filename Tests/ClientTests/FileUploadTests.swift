import Mixing
import Testing

@testable import Client

@Suite struct `An upload, tus 1.0.0` {
  private var random = SplitMix64(seed: 1)
  private var upload = FileUpload(name: "a.png", room: "general", sizeBytes: 10)

  private func answer(_ status: Int, _ fields: [String: String] = [:]) -> FileUpload.Answer {
    .http(AnswerHead(status: status, fields: fields), body: [])
  }

  /// Takes an answer, and returns what follows, after a wait.
  private mutating func take(_ answer: FileUpload.Answer) -> FileUpload.Action {
    upload.take(answer, using: &random)
    let next = upload.next()
    if case .wait = next { return upload.next() }
    return next
  }

  private mutating func create() -> FileUpload.Action {
    _ = upload.next()
    return take(answer(201, ["location": "/v1/files/f"]))
  }

  @Test(arguments: [
    ("/v1/files/f", "f"), ("https://other.example/chat/v1/files/f_-1?x=/y#z", "f_-1"),
  ]) mutating func `the last part of the location is the file, wherever it is`(
    location: String, file: String
  ) {
    _ = upload.next()
    #expect(
      take(answer(201, ["location": location])) == .send(.append(file: file, 0..<10)))
  }

  @Test(arguments: ["", "/", "/v1/files/..", "/v1/files/a%20b", "/v1/files/ä", "/v1/files/a\u{0}"])
  mutating func `a location without a valid id is refused`(location: String) {
    _ = upload.next()
    #expect(
      take(answer(201, ["location": location])) == .end(.refused("its answer names no file")))
  }

  @Test mutating func `after no answer the relay's offset counts, whatever was sent`() {
    _ = create()
    #expect(take(.none("lost")) == .send(.ask(file: "f")))
    #expect(
      take(answer(200, ["upload-offset": "4"])) == .send(.append(file: "f", 4..<10)))
    #expect(take(answer(409)) == .send(.ask(file: "f")))
    #expect(take(answer(200, ["upload-offset": "2"])) == .send(.append(file: "f", 2..<10)))
    #expect(take(answer(204, ["upload-offset": "10"])) == .end(.uploaded(file: "f")))
  }

  @Test mutating func `an upload that goes on begins with the relay's offset`() {
    upload = FileUpload(name: "a.png", room: "general", sizeBytes: 10, continuing: "f")
    #expect(upload.next() == .send(.ask(file: "f")))
    let head = answer(200, ["upload-offset": "4", "upload-length": "10"])
    #expect(take(head) == .send(.append(file: "f", 4..<10)))
  }

  @Test mutating func `a complete picture has the size of what the relay has made of it`() {
    _ = create()
    #expect(take(.none("lost")) == .send(.ask(file: "f")))
    let head = answer(200, ["upload-offset": "7", "upload-length": "7"])
    #expect(take(head) == .end(.uploaded(file: "f")))
  }

  @Test(arguments: ["11", "-1", "x", "", "9999999999999999999999"])
  mutating func `an offset outside of the file is refused`(offset: String) {
    _ = create()
    #expect(
      take(answer(204, ["upload-offset": offset]))
        == .end(.refused("its answer has no valid offset")))
  }

  @Test mutating func `a relay that takes nothing is asked again after a wait, not at once`() {
    _ = create()
    upload.take(answer(204, ["upload-offset": "0"]), using: &random)
    guard case .wait = upload.next() else {
      Issue.record("there is no wait")
      return
    }
  }

  @Test mutating func `a relay that forgets the upload again and again is given up`() {
    _ = create()
    var creations = 0
    for _ in 0..<20 {
      switch take(answer(404)) {
      case .send(.create):
        creations += 1
        _ = take(answer(201, ["location": "/f"]))
      case .end(.refused): return #expect(creations == 3)
      case let other: Issue.record("\(other)")
      }
    }
    Issue.record("it never ends")
  }

  @Test(arguments: [("7", 7000), ("100000", 60_000), ("x", 0), ("-5", 0)])
  mutating func `the wait that the relay wants is kept, up to a minute`(
    wanted: String, milliseconds: Int
  ) {
    _ = upload.next()
    upload.take(answer(429, ["retry-after": wanted]), using: &random)
    guard case .wait(let wait, reason: _) = upload.next() else {
      Issue.record("there is no wait")
      return
    }
    #expect(max(milliseconds, 0)...max(milliseconds, 500) ~= wait)
  }

  @Test(arguments: [400, 401, 403, 409, 413, 507])
  mutating func `other answers refuse the file`(status: Int) {
    _ = upload.next()
    #expect(
      take(answer(status)) == .end(.refused("it answers with HTTP status \(status)")))
  }
}
