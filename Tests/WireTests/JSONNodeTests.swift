import Testing
import Wire

@Suite struct `JSON from others` {
  private func node(_ json: String) -> JSONNode? { JSONNode(Array(json.utf8)) }

  @Test func `members and elements are found at their places`() throws {
    let root = try #require(
      node(#" { "a" : [ 1, {"b":"x\n\u00e9"}, null, true ] , "c\u0064": {}, "n": null } "#))
    #expect(root.isObject)
    let elements = try #require(root["a"]?.elements)
    #expect(elements.count == 4)
    #expect(elements[0].integer == 1)
    #expect(elements[1]["b"]?.string == "x\né")
    #expect(elements[3].boolean == true)
    #expect(root["cd"]?.isObject == true)
    #expect(root["n"] == nil)
    #expect(root["nothing"] == nil)
    #expect(root["a"]?["b"] == nil)
    #expect(node("[]")?.elements?.isEmpty == true)
    #expect(node("{}")?["a"] == nil)
    #expect(node(#"{"a":1,"a":2}"#)?["a"]?.integer == 2)
  }

  @Test func `a value has the type that it is asked for, and no other`() throws {
    #expect(node("\"1\"")?.integer == nil)
    #expect(node("1")?.string == nil)
    #expect(node("9007199254740991")?.integer == 9_007_199_254_740_991)
    #expect(node("9007199254740993")?.integer == nil)
    #expect(node("-1")?.integer == nil)
    #expect(node("1.5")?.integer == nil)
    #expect(node("false")?.boolean == false)
    #expect(node("null")?.boolean == nil)
    #expect(node("{}")?.elements == nil)
  }

  @Test(arguments: [
    "", "{", "[1,]", "[1] x", #"{"a" 1}"#, "<html>", #""\ud80""#, "[1][2]", "nul",
    String(repeating: "[", count: 100) + String(repeating: "]", count: 100),
  ])
  func `text that is not exactly one value is refused`(json: String) {
    #expect(node(json) == nil)
  }

  @Test func `half of a surrogate pair is replaced`() {
    #expect(node(#""\ud800""#)?.string == "\u{FFFD}")
  }

  @Test func `bytes that are not UTF-8 are replaced`() {
    #expect(JSONNode([0x22, 0xFF, 0x22])?.string == "\u{FFFD}")
  }
}
