import Relay
import TestSupport
import Testing

@testable import Directories

@Suite struct `People from X` {
  private func place(_ conformer: Conformer) throws -> ServicePlace {
    let place = try ServicePlace(conformer)
    place.options.refreshMilliseconds = 3_600_000
    return place
  }

  @Test(arguments: [(Conformer.x, 15), (.xOld, 14)])
  func `1,234 followers in pages of 100 cost 13 requests, plus the token and the account's id`(
    conformer: Conformer, requests: Int
  ) throws {
    let place = try place(conformer)
    place.options.refreshMilliseconds = 1500
    try place.service.control(#"{"people":1234,"page_limit":100}"#)
    let observer = try Observer()
    let directory = try observer.start(place.directory(observer))
    let first = try observer.waitForPeople()
    let second = try observer.waitForPeople(after: first.asOf)
    directory.stop()
    #expect(try place.service.log(until: first).count == requests)
    // X has no conditional requests: a refresh costs the pages, but neither token nor id.
    let log = try place.service.log(until: second)
    #expect(log.count == requests + 13)
    #expect(log.allSatisfy { $0.status == 200 })
    #expect(second.people == first.people)
    #expect(first.people.count == 1234)
    #expect(
      first.people[0]
        == Person(
          user: "person_0001", name: "Follower no. 1", avatar: "https://pbs.example/0_normal.jpg"))
  }

  @Test func `the largest pages that X allows are requested`() throws {
    let place = try place(.x)
    try place.service.control(#"{"people":1234}"#)
    let observer = try Observer()
    let directory = try observer.start(place.directory(observer))
    #expect(try observer.waitForPeople().people.count == 1234)
    directory.stop()
    #expect(
      try place.service.log().map { "\($0.method) \($0.path)" } == [
        "POST /oauth2/token", "GET /2/users/by/username/rust",
        "GET /2/users/2244994945/followers?max_results=1000&user.fields=profile_image_url,verified",
        "GET /2/users/2244994945/followers?max_results=1000&user.fields=profile_image_url,verified"
          + "&pagination_token=P%3D1000",
      ])
  }

  @Test func `an account without followers is an empty list`() throws {
    for conformer in [Conformer.x, .xOld] {
      let place = try place(conformer)
      try place.service.control(#"{"people":0}"#)
      let observer = try Observer()
      let directory = try observer.start(place.directory(observer))
      #expect(try observer.waitForPeople().people.isEmpty)
      directory.stop()
    }
  }

  @Test(arguments: [Conformer.x, .xOld])
  func `the token is requested once, kept over a restart, and renewed only after a 401`(
    _ conformer: Conformer
  ) throws {
    let place = try place(conformer)
    place.options.refreshMilliseconds = 0
    func readOnce() throws {
      let observer = try Observer()
      let directory = try observer.start(place.directory(observer))
      try observer.waitForPeople(from: 1)
      directory.stop()
    }
    try readOnce()
    try readOnce()
    func tokens() throws -> Int {
      try place.service.log().filter { $0.path == "/oauth2/token" }.count
    }
    #expect(try tokens() == 1)
    #expect(try place.folder.permissions(of: "directory-token.json") == 0o600)
    #expect(try place.folder.read("directory-token.json").contains("bearer-1"))
    #expect(try !place.folder.read("directory.json").contains("bearer-1"))

    try place.service.control(#"{"bearer":"bearer-2"}"#)
    try readOnce()
    #expect(try tokens() == 2)
    let log = try place.service.log()
    let refused = try #require(log.firstIndex { $0.status == 401 })
    #expect(log[refused + 1].path == "/oauth2/token")
    #expect(log[refused + 2].path == log[refused].path)
    #expect(log.filter { $0.status == 401 }.count == 1)
    #expect(try place.folder.read("directory-token.json").contains("bearer-2"))
  }

  @Test func `a stored token of another key is not used`() throws {
    let place = try place(.x)
    try place.folder.write(
      #"{"owner":"\#(place.service.url) other","token":"bearer-0"}"#, to: "directory-token.json")
    let observer = try Observer()
    let directory = try observer.start(place.directory(observer))
    try observer.waitForPeople()
    directory.stop()
    #expect(try !place.service.log().contains { $0.status == 401 })
  }

  @Test func `a token that is refused repeatedly is requested once per try`() throws {
    let place = try place(.x)
    let refused = #"{"path":"/2","status":401,"body":"{\"errors\":[{\"code\":89}]}"}"#
    try place.service.control("{\"instead\":[\(refused),\(refused)]}")
    place.options.retryMilliseconds = 60_000...60_000
    let observer = try Observer()
    let directory = try observer.start(place.directory(observer))
    let problem = try observer.waitForProblem().problem
    directory.stop()
    guard case .failed("X rejected the credentials (401).", _)? = problem else {
      throw Unexpected("\(String(describing: problem))")
    }
    #expect(try place.service.log().map(\.status) == [200, 401, 200, 401])
  }

  @Test func `a wrong secret is reported in X's words, without the secret`() throws {
    let place = try place(.x)
    let observer = try Observer()
    let directory = try observer.start(place.make("rust", observer, secret: "wr0ng"))
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(
      problem
        == .failed("X denied access: Unable to verify your credentials (403).", support: nil))
    #expect(!observer.told.contains { $0.contains("wr0ng") })
    #expect(!place.folder.names.contains("directory-token.json"))
  }

  @Test func `a plan without followers is reported, with X's id for support`() throws {
    let place = try place(.x)
    let body =
      #"{\"reason\":\"client-not-enrolled\",\"title\":\"Client Forbidden\",\"detail\":\"When authenticating requests to the X API v2 endpoints, you must use keys from a Project.\"}"#
    try place.service.control(
      """
      {"instead":[{"path":"/2/users/2244994945","status":403,"body":"\(body)",
        "headers":{"x-transaction-id":"abc123"}}]}
      """)
    place.options.retryMilliseconds = 60_000...60_000
    let observer = try Observer()
    let directory = try observer.start(place.directory(observer))
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(
      problem
        == .failed(
          "X denied access: When authenticating requests to the X API v2 endpoints, "
            + "you must use keys from a Project (403).", support: "abc123"))
  }

  @Test func `a missing account is reported`() throws {
    let place = try place(.x)
    let observer = try Observer()
    let directory = try observer.start(place.make("nobody", observer))
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(problem == .failed("X does not know the account nobody.", support: "tx-2"))
  }

  @Test(arguments: [
    (Conformer.x, "{}"), (.x, #"{"meta":{},"data":[{"id":"1"}]}"#), (.x, "[]"),
    (.xOld, #"{"users":[]}"#), (.xOld, #"{"users":[{}],"next_cursor_str":"0"}"#),
  ])
  func `an answer that is no list is reported`(conformer: Conformer, body: String) throws {
    let place = try place(conformer)
    let quoted = body.split(separator: "\"", omittingEmptySubsequences: false).joined(
      separator: "\\\"")
    let path = conformer == .x ? "/2/users/2244994945" : "/1.1"
    try place.service.control("{\"instead\":[{\"path\":\"\(path)\",\"body\":\"\(quoted)\"}]}")
    let observer = try Observer()
    let directory = try observer.start(place.directory(observer))
    let problem = try observer.waitForProblem().problem
    #expect(
      problem == .failed("X returned a response that is not a list of followers.", support: nil)
        || problem
          == .failed("X returned a response that is not a list of followers.", support: "REQ:3")
    )
    #expect(try observer.waitForPeople().people.count == 3)
    directory.stop()
  }
}
