import Relay
import Testing

@testable import Directories

@Suite struct `Names of a directory` {
  @Test(arguments: [
    ("Ada-Lovelace", "ada-lovelace"), ("x[bot]", "x.bot"), ("Dependabot[bot]", "dependabot.bot"),
    ("a_b.c", "a_b.c"), ("", nil), ("zoë", nil), ("a b", nil), ("[bot]", ".bot"), ("a[b]", nil),
    (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
    (String(repeating: "a", count: 65), nil), ("İ", nil), ("a\n", nil),
  ])
  func `are lower-cased, and what does not fit is none`(login: String, user: String?) {
    #expect(Listing.user(login) == user)
  }

  @Test func `are shown in one line, without what disturbs a screen`() {
    #expect(Listing.shown(" Ada\n\u{202E}Love\u{1B}[2Jlace ") == "Ada Love[2Jlace")
    #expect(Listing.shown("\u{200E}\n") == nil)
    #expect(Listing.shown(String(repeating: "é", count: 300))?.utf8.count == 200)
  }

  @Test func `have pictures that a browser may fetch, or none`() {
    #expect(Listing.picture("https://a.example/p.png") != nil)
    #expect(Listing.picture("javascript:alert(1)") == nil)
    #expect(Listing.picture("https://a.example/\(String(repeating: "a", count: 2048))") == nil)
  }
}

@Suite struct `Link, RFC 8288` {
  @Test(arguments: [
    (#"<https://a/?since=46>; rel="next", <https://a/{?since}>; rel="first""#, "https://a/?since=46"),
    (#"<https://a/1>; rel="prev", <https://a/3>; rel="next", <https://a/9>; rel="last""#, "https://a/3"),
    (#"<https://a/?a=1,2;3>; title="x, <y>; rel=next"; rel=next"#, "https://a/?a=1,2;3"),
    (#"<https://a/1>;rel="last NEXT""#, "https://a/1"),
    (#"<https://a/1>; rel="prev""#, nil), ("", nil), ("<", nil), ("next", nil), ("<a>", nil),
  ])
  func `the target of a relation is found`(field: String, next: String?) {
    #expect(LinkField.target("next", in: field) == next)
  }
}

@Suite struct `Web address` {
  @Test(arguments: [
    ("https://API.github.com/orgs", "https://api.github.com"),
    ("https://a.example:443/", "https://a.example"), ("http://a.example:80", "http://a.example"),
    ("http://a.example:8080?x", "http://a.example:8080"), ("http://[::1]:81/x", "http://[::1]:81"),
    ("http://[::1]", "http://[::1]"), ("ftp://a.example", nil), ("https://", nil),
    ("https://u:p@a.example", nil), ("https://a.example:0", nil), ("https://a.example:x", nil),
    ("https://a b", nil), ("//a.example", nil), ("https://a\\b", nil), ("https://:80", nil),
  ])
  func `says who is spoken to`(text: String, origin: String?) {
    #expect(WebAddress(text)?.origin == origin)
  }

  @Test func `is known to be this machine, or not`() {
    for host in ["127.0.0.1", "127.9.8.7:80", "localhost:1", "[::1]:2"] {
      #expect(WebAddress("http://\(host)/")?.isLoopback == true)
    }
    for host in ["127.0.0.1.example.org", "127.1", "10.0.0.1", "[::2]", "127.0.0.300"] {
      #expect(WebAddress("http://\(host)/")?.isLoopback == false)
    }
  }
}

@Suite struct `What a directory keeps` {
  @Test func `is read as it was written`() {
    var state = DirectoryState(identity: #"github "https""#)
    state.asOf = 1_763_650_000_000
    var page = Page(url: "https://a/1", etag: #"W/"é""#)
    page.next = "https://a/2"
    page.listing.add(login: "Ada", avatar: "https://p/1")
    page.listing.add(login: "two words")
    state.pages = [page, Page(url: "https://a/2")]
    state.walk = PageWalk(from: "https://a/1", at: 5)
    state.walk?.take(page)
    state.limits = ["core": RateLimit(until: 7, isKnown: true), "x": RateLimit(until: 8, isKnown: false)]
    state.memory = ["account": "1", "other": "2"]
    #expect(DirectoryState(state.json) == state)
    let empty = DirectoryState(identity: "")
    #expect(DirectoryState(empty.json) == empty)
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"version":2,"identity":"a","as_of":1,"pages":[]}"#,
    #"{"version":1,"identity":"a","as_of":1,"pages":[{"url":"u","left_out":0,"people":[{"user":"No","name":"n"}]}]}"#,
    #"{"version":1,"identity":"a","as_of":1,"pages":[{"url":"u"}]}"#,
    #"{"version":1,"identity":"a","as_of":1,"pages":[],"walk":{"began":1,"pages":[]}}"#,
  ])
  func `is nothing where it was not written so`(json: String) {
    #expect(DirectoryState(Array(json.utf8)) == nil)
  }

  @Test func `is nothing where it is cut anywhere`() {
    var state = DirectoryState(identity: "x")
    state.pages = [Page(url: "https://a/1", etag: "e")]
    let json = state.json
    for length in 0..<(json.count - 1) { #expect(DirectoryState(Array(json[..<length])) == nil) }
  }
}

@Suite struct `The limits of a service` {
  private let now: Int64 = 1_763_650_000_000

  private func answer(_ status: Int, _ headers: [String: String]) -> WebAnswer {
    WebAnswer(status: status, headers: WebHeaders(headers), body: [])
  }

  private func limits() -> RateLimits { RateLimits(prefix: "x-ratelimit-", pace: RateLimits.Pace()) }

  private var reset: String { String(now / 1000 + 600) }

  @Test func `end when retry-after says, in seconds or as a date`() {
    var limits = limits()
    let seconds = limits.noteRefused(answer(403, ["retry-after": "90"]), "core", now: now)
    #expect(seconds == RateLimit(until: now + 90_000, isKnown: true))
    let date = limits.noteRefused(
      answer(429, ["Retry-After": "Thu, 20 Nov 2025 15:00:00 GMT"]), "core", now: now)
    #expect(date == RateLimit(until: 1_763_650_800_000, isKnown: true))
    #expect(limits.limit("core", now: now + 1) == date)
    #expect(limits.limit("other", now: now + 1) == nil)
    #expect(limits.limit("core", now: date.until + 999) == date)
    #expect(limits.limit("core", now: date.until + 1000) == nil)
  }

  @Test func `end at the reset only where nothing remains`() {
    var limits = limits()
    let primary = answer(403, ["x-ratelimit-remaining": "0", "x-ratelimit-reset": reset])
    #expect(limits.noteRefused(primary, "core", now: now).until == now + 600_000)
    let secondary = answer(403, ["x-ratelimit-remaining": "12", "x-ratelimit-reset": reset])
    let guess = limits.noteRefused(secondary, "core", now: now)
    #expect(guess == RateLimit(until: now + 60_000, isKnown: false))
  }

  @Test func `are waited for at least a minute, and longer each time, where nothing is said`() {
    var limits = limits()
    let waits = (0..<8).map { _ in limits.noteRefused(answer(429, [:]), "core", now: now).until - now }
    #expect(waits.map { $0 / 60_000 } == [1, 2, 4, 8, 16, 32, 60, 60])
    limits.noteServed(WebHeaders(), "core", now: now)
    #expect(limits.noteRefused(answer(429, [:]), "core", now: now).until == now + 60_000)
  }

  @Test func `are not believed where they are absurd`() {
    for value in ["0", "99999999999", "-5", "soon", "9223372036854775807"] {
      var limits = limits()
      let headers = ["x-ratelimit-remaining": "0", "x-ratelimit-reset": value]
      #expect(!limits.noteRefused(answer(403, headers), "core", now: now).isKnown)
      limits.noteServed(WebHeaders(headers), "core", now: now)
      #expect(limits.limit("core", now: now) == nil)
    }
  }

  @Test func `are told from other refusals`() {
    let limits = limits()
    #expect(limits.isLimit(answer(429, [:]), saying: nil))
    #expect(limits.isLimit(answer(403, ["retry-after": "1"]), saying: nil))
    #expect(limits.isLimit(answer(403, ["x-ratelimit-remaining": "0"]), saying: nil))
    #expect(
      limits.isLimit(answer(403, [:]), saying: "You have exceeded a secondary rate limit."))
    #expect(!limits.isLimit(answer(403, ["x-ratelimit-remaining": "9"]), saying: "Forbidden"))
    #expect(!limits.isLimit(answer(404, ["x-ratelimit-remaining": "0"]), saying: nil))
  }
}

@Suite struct `Sources, as a configuration names them` {
  @Test func `GitHub has four`() {
    #expect(GitHubSource("org:swiftlang") == .members(organisation: "swiftlang"))
    #expect(GitHubSource("followers:Ada-L") == .followers(user: "Ada-L"))
    #expect(GitHubSource("following:a_corp") == .following(user: "a_corp"))
    #expect(GitHubSource("users") == .users)
    for text in ["", "org", "org:", "org:a/b", "users:", "users:a", "Org:a", "org:a b", "org:a?b"] {
      #expect(GitHubSource(text) == nil, "\(text)")
    }
    for text in ["org:swiftlang", "followers:Ada-L", "following:a_corp", "users"] {
      #expect(GitHubSource(text)?.description == text)
    }
  }

  @Test func `X has followers`() {
    #expect(XService.account(in: "followers:rust_lang") == "rust_lang")
    for text in ["followers:", "rust", "followers:a-b", "following:a", "followers:a/b"] {
      #expect(XService.account(in: text) == nil, "\(text)")
    }
  }
}
