import Relay
import Testing

@testable import Directories

@Suite struct `The stored state of a directory` {
  @Test func `is read as it was written`() {
    var state = DirectoryState(identity: #"github "https""#)
    state.asOf = 1_763_650_000_000
    var page = Page(url: "https://a/1", etag: #"W/"é""#)
    page.next = "https://a/2"
    page.listing.add(login: "Ada", avatar: "https://p/1")
    page.listing.add(login: "Bo", id: "583231")
    page.listing.add(login: "two words")
    state.pages = [page, Page(url: "https://a/2")]
    state.walk = PageWalk(from: "https://a/1", at: 5)
    state.walk?.take(page)
    state.limits = [
      "core": RateLimit(until: 7, isKnown: true), "x": RateLimit(until: 8, isKnown: false),
    ]
    state.memory = ["account": "1", "other": "2"]
    #expect(DirectoryState(state.json) == state)
    let empty = DirectoryState(identity: "")
    #expect(DirectoryState(empty.json) == empty)
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"version":3,"identity":"a","as_of":1,"pages":[]}"#,
    #"{"version":1,"identity":"a","as_of":1,"pages":[{"url":"u","left_out":0,"people":[{"user":"No","name":"n"}]}]}"#,
    #"{"version":1,"identity":"a","as_of":1,"pages":[{"url":"u"}]}"#,
    #"{"version":1,"identity":"a","as_of":1,"pages":[],"walk":{"began":1,"pages":[]}}"#,
  ])
  func `is nil if it was not written so`(json: String) {
    #expect(DirectoryState(Array(json.utf8)) == nil)
  }

  @Test func `of the first version is read, and its pages are fetched whole again`() throws {
    let page = #"""
      [{"left_out":0,"url":"https://a/1","etag":"W/\"1\"","people":[{"user":"ada","name":"Ada"}]}]
      """#
    let json = #"""
      {"version":1,"identity":"a","as_of":1,"pages":\#(page),
      "walk":{"began":5,"pages":\#(page),"next":"https://a/2"},"limits":[],"memory":[]}
      """#
    let state = try #require(DirectoryState(Array(json.utf8)))
    #expect(state.listing.people.map(\.user) == ["ada"])
    #expect(state.listing.people.map(\.id) == [nil])
    #expect(state.pages.map(\.etag) == [nil])
    #expect(state.walk?.pages.map(\.etag) == [nil])
  }

  @Test func `is nil if it is truncated anywhere`() {
    var state = DirectoryState(identity: "x")
    state.pages = [Page(url: "https://a/1", etag: "e")]
    let json = state.json
    for length in 0..<(json.count - 1) { #expect(DirectoryState(Array(json[..<length])) == nil) }
  }
}
