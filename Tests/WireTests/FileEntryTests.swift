import Testing

@testable import Wire

@Suite struct `An entry that names a file` {
  private static let id = "Yk3xV0aAb7QmK2xV0aAb7Q"

  private func send(_ fields: String, textLimitBytes: Int = 20) throws -> ClientMessage.Send? {
    let json = Array(#"{"type":"send","room":"r","id":"1","kind":"file",\#(fields)}"#.utf8)
    let request = try ClientRequest(decoding: json.span, textLimitBytes: textLimitBytes)
    guard case .send(let send) = request.message else { return nil }
    return send
  }

  private func refusedField(_ fields: String) -> String? {
    do {
      _ = try send(fields)
      return nil
    } catch {
      return (error as? WireError)?.field
    }
  }

  @Test func `has a name, and perhaps a caption and an entry to which it replies`() throws {
    let plain = try #require(try send(#""file":"\#(Self.id)","name":"a b.png","text":"""#))
    #expect(plain.body == Array(#""file":"\#(Self.id)","name":"a b.png""#.utf8))
    #expect(plain.reference == .file(id: Self.id, replyTo: nil))
    let full = try #require(
      try send(#""reply_to":7,"text":"\u0041\n","name":"ü","file":"\#(Self.id)""#))
    #expect(
      full.body
        == Array(#""file":"\#(Self.id)","name":"ü","text":"A\n","reply_to":7"#.utf8))
    #expect(full.reference == .file(id: Self.id, replyTo: 7))
  }

  @Test(arguments: [
    "", ".", "..", "a/b", " ", #"a\nb"#, #"a\u0000"#, #"a\u202Egnp.exe"#, #"\u2066a"#, #"a\u007f"#,
    #"a\u2028b"#, #"\u200d"#, String(repeating: "n", count: 256),
    String(repeating: "ü", count: 128),
  ])
  func `has no name that hides what it is, or leads elsewhere`(_ name: String) {
    #expect(refusedField(#""file":"\#(Self.id)","name":"\#(name)""#) == "name")
  }

  @Test func `has an id of 22 characters, and a caption like a text`() {
    for id in ["", "short", Self.id + "A", String(repeating: "/", count: 22)] {
      #expect(refusedField(#""file":"\#(id)","name":"a""#) == "file")
    }
    #expect(refusedField(#""name":"a""#) == "file")
    #expect(refusedField(#""file":"\#(Self.id)""#) == "name")
    for caption in [#""\u0007""#, #"" ""#, "1", #""123456789012345678901""#] {
      #expect(refusedField(#""file":"\#(Self.id)","name":"a","text":\#(caption)"#) == "text")
    }
  }

  @Test func `is read as it was written, with what the relay says of the file`() throws {
    let content = FileContent(
      id: Self.id, name: "a.ogg", caption: "listen", replyTo: 3,
      description: FileDescription(
        size: 5, mediaType: "audio/ogg", durationMilliseconds: 900,
        thumbnail: .init(width: 2, height: 1, placeholder: "1Q==")))
    let entry = Entry(
      room: "r", seq: 4, id: "1", from: "ada", at: 9, kind: .file, body: content.body)
    let json = ServerMessage.message(entry).json
    let decoded = try Entry(decoding: json.span)
    #expect(decoded == entry)
    #expect(decoded.file == content)
    let deleted = Entry(
      room: "r", seq: 4, id: "1", from: "ada", at: 9, kind: .file,
      body: entry.deletedBody(by: "mod"))
    #expect(try Entry(decoding: ServerMessage.message(deleted).json.span) == deleted)
    #expect(deleted.isDeleted && deleted.deletedBy == "mod" && deleted.file == nil)
  }
}
