import Testing
import Wire

@Suite struct `Requests in one array` {
  private func elements(_ text: String) -> [String]? {
    let bytes = Array(text.utf8)
    return RequestArray.elements(in: bytes.span)?.map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  @Test(arguments: [
    ("[]", []), (" [ ] \n", []), ("[1]", ["1"]),
    (#" [ {"a":[1,2]} , "x,]" ,null] "#, [#"{"a":[1,2]}"#, #""x,]""#, "null"]),
  ])
  func `are its elements`(text: String, expected: [String]) {
    #expect(elements(text) == expected)
  }

  @Test(arguments: ["", "{}", "[", "[1", "[1,]", "[1]]", "[1] 2", "[1 2]", "\"[]\"", "[{]"])
  func `must be exactly one array`(text: String) {
    #expect(elements(text) == nil)
  }

  @Test func `may be as deep as a message, and no deeper`() {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(elements("[\(nested(64))]") == [nested(64)])
    #expect(elements("[\(nested(66))]") == nil)
  }

  @Test(arguments: [
    (ServerMessage.ok, nil, #"{"type":"ok"}"#),
    (ServerMessage.ok, "mine", #"{"type":"ok","ref":"mine"}"#),
    (ServerMessage.left(room: #"ref"#), #"a"b\"#, #"{"type":"left","room":"ref","ref":"a\"b\\"}"#),
  ])
  func `have answers that can be renamed`(
    message: ServerMessage, ref: String?, expected: String
  ) {
    let renamed = ServerMessage.renamed(message.json(ref: "17"), to: ref)
    #expect(String(decoding: renamed, as: UTF8.self) == expected)
  }

  @Test func `have errors that can be renamed, wherever their ref is`() {
    var error = WireError(.tooLarge, "too large", re: .send)
    error.ref = "17"
    error.support = "s"
    let renamed = ServerMessage.renamed(ServerMessage.error(error).json, to: "mine")
    error.ref = "mine"
    #expect(renamed == ServerMessage.error(error).json)
  }
}
