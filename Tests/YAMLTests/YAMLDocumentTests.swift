import Testing

@testable import YAML

@Suite struct `YAML tree` {
  @Test func `scalars, lists and mappings keep their lines`() {
    let document = YAMLDocument(Array("a: 1\nb:\n  - x\n  -\n    c: 'y'\n".utf8))
    #expect(document.faults == [])
    func plain(_ line: Int, _ text: String) -> YAMLNode {
      YAMLNode(line: line, content: .scalar(text, isPlain: true))
    }
    let inner = YAMLNode(
      line: 5,
      content: .mapping([
        YAMLNode.Pair(
          key: "c", line: 5, value: YAMLNode(line: 5, content: .scalar("y", isPlain: false)))
      ]))
    let expected = YAMLNode(
      line: 1,
      content: .mapping([
        YAMLNode.Pair(key: "a", line: 1, value: plain(1, "1")),
        YAMLNode.Pair(
          key: "b", line: 2,
          value: YAMLNode(line: 3, content: .list([plain(3, "x"), inner]))),
      ]))
    #expect(document.root == expected)
  }

  @Test func `a scalar has the type that it is asked for`() {
    func node(_ text: String, isPlain: Bool = true) -> YAMLNode {
      YAMLNode(line: 1, content: .scalar(text, isPlain: isPlain))
    }
    #expect(node("12").integer(as: Int.self) == 12)
    #expect(node("12").number == 12)
    #expect(node("12").text == "12")
    #expect(node("-3").integer(as: Int.self) == -3)
    #expect(node("300").integer(as: UInt8.self) == nil)
    #expect(node("+3").integer(as: Int.self) == nil)
    #expect(node("12", isPlain: false).integer(as: Int.self) == nil)
    #expect(node("true").boolean == true)
    #expect(node("on").boolean == nil)
    #expect(node("0x10").number == nil)
    #expect(node("inf").number == nil)
    #expect(node("1-2").number == nil)
    #expect(node("null").text == nil)
    #expect(node("null", isPlain: false).text == "null")
    #expect(node("", isPlain: false).text == "")
  }

  @Test(arguments: [
    ("a: &x 1", 1, "an anchor (&), alias (*) or tag (!) is used"),
    ("a: 1\nb: *x", 2, "an anchor (&), alias (*) or tag (!) is used"),
    ("a: !!str 1", 1, "an anchor (&), alias (*) or tag (!) is used"),
    ("a: &x [1]\n", 1, "an anchor (&), alias (*) or tag (!) is used"),
    ("a: &x { b: 1 }\n", 1, "an anchor (&), alias (*) or tag (!) is used"),
    ("a: 1\nb: 2\na: 3", 3, "is given twice"),
    ("a: { b: 1,\n b: 2 }", 2, "is given twice"),
    ("? [a]\n: 1", 1, "a key is a list"),
    ("~: 1", 1, "a key is empty"),
    // Messages repeat keys: none may begin a line of its own, or clear the screen.
    ("\"a\\nb\": 1", 1, #"a key is "a\nb""#),
    ("a: { \"b\\e[2J\": 1 }", 1, #"a key is "b\u001b[2J""#),
    ("a: 1\n---\nb: 2", 2, "a second document begins"),
    ("a: 1\nb: [", 3, "this is not YAML"),
    ("a: 1\n\tb: 2", 2, "the line begins with a tab"),
    ("a: 1\nb: \"\\q\"", 2, "this is not YAML"),
  ])
  func `an unsupported construct is an error with its line`(yaml: String, line: Int, found: String)
  {
    let faults = YAMLDocument(Array(yaml.utf8)).faults
    #expect(faults.map(\.line) == [line])
    #expect(faults.map(\.found) == [found])
  }

  @Test func `aliases do not expand`() throws {
    let bomb = """
      a: &a [x, x, x, x, x, x, x, x, x, x]
      b: &b [*a, *a, *a, *a, *a, *a, *a, *a]
      c: &c [*b, *b, *b, *b, *b, *b, *b, *b]
      """
    let document = YAMLDocument(Array(bomb.utf8))
    #expect(document.faults.count == 3 + 16)
  }

  @Test func `nesting ends at its limit, and not before`() {
    func nested(_ levels: Int) -> [UInt8] {
      Array((String(repeating: "[", count: levels) + String(repeating: "]", count: levels)).utf8)
    }
    #expect(YAMLDocument(nested(YAMLDocument.depthLimit)).faults == [])
    let document = YAMLDocument(nested(YAMLDocument.depthLimit + 1))
    #expect(document.root == nil)
    #expect(document.faults.map(\.found) == ["values are nested too deeply"])
    #expect(YAMLDocument(nested(9000)).faults.map(\.found) == ["values are nested too deeply"])
  }

  @Test func `bytes that are not UTF-8 are found on their line`() {
    let faults = YAMLDocument(Array("a: 1\nb: 2\nc: ".utf8) + [0xC3, 0x28]).faults
    #expect(faults.map(\.line) == [3])
    #expect(faults.map(\.found) == ["this is not YAML"])
  }

  @Test func `every prefix of a file is a tree or an error`() {
    let bytes = Array(
      "a: { b: [1, 'two'] }\n# why\nc:\n  - d: \"\\u00e9\"\n    e: é\nf: |\n g\n".utf8)
    for end in 0...bytes.count {
      let faults = YAMLDocument(Array(bytes[..<end])).faults
      #expect(faults.count <= 1)
      #expect(faults.allSatisfy { $0.found == "this is not YAML" })
    }
  }
}
