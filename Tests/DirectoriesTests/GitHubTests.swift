import Platform
import Relay
import TestSupport
import Testing

@testable import Directories

@Suite struct `People from GitHub`: GitHubSuite {
  let place: ServicePlace
  let observer: Observer

  init() throws { (place, observer) = try Self.gitHub() }

  @Test func `1,234 members in pages of 100 cost 13 requests, and a refresh 13 conditional ones`()
    throws
  {
    try place.setPeople(1234, [])
    place.options.refreshMilliseconds = 1500
    let directory = try start(token: .fixed("t0ken"))
    let first = try observer.waitForPeople()
    let second = try observer.waitForPeople(after: first.asOf)
    directory.stop()

    #expect(first.people.count == 1234)
    #expect(second.people == first.people)
    #expect(try service.log(until: first).count == 13)
    let log = try service.log(until: second)
    #expect(log.count == 26)
    #expect(log.prefix(13).map(\.status) == Array(repeating: 200, count: 13))
    #expect(log.suffix(13).map(\.status) == Array(repeating: 304, count: 13))
    #expect(log.suffix(13).allSatisfy { $0.header("if-none-match")?.hasPrefix("W/\"") == true })
    #expect(log.prefix(13).map(\.path) == log.suffix(13).map(\.path))
    #expect(log[0].path == "/orgs/acme/members?role=all&per_page=100")
    #expect(log[12].path == "/organizations/9919/members?role=all&per_page=100&page=13")
    for request in log {
      #expect(request.header("accept") == "application/vnd.github+json")
      #expect(request.header("x-github-api-version") == "2022-11-28")
      #expect(request.header("user-agent") == "relay")
      #expect(request.header("authorization") == "Bearer t0ken")
    }
  }

  @Test func `people have the numbers that stay when logins change`() throws {
    try service.control(#"{"logins":["Mona"]}"#)
    let first = try start().stopped(after: { try observer.waitForPeople() })
    #expect(first.people.map(\.user) == ["mona", "person-0002", "person-0003"])
    #expect(first.people.map(\.id) == ["3", "6", "9"])
  }

  @Test func `a refresh after a restart is conditional too, and not before it is due`() throws {
    try place.setPeople(150, [])
    try start().stopped(after: { try observer.waitForPeople() })
    #expect(try service.log().count == 2)

    let idle = try Observer()
    let second = try idle.start(place.make("org:acme", idle))
    #expect(try idle.waitForPeople().people.count == 150)
    second.stop()
    #expect(try service.log().count == 2)

    place.options.refreshMilliseconds = 0
    let busy = try Observer()
    let third = try busy.start(place.make("org:acme", busy))
    try busy.waitForPeople(from: 1)
    third.stop()
    #expect(try service.log()[2...3].map(\.status) == [304, 304])
  }

  @Test func `if some pages have changed the others are kept`() throws {
    try place.setPeople(250, [])
    place.options.refreshMilliseconds = 1000
    let directory = try start()
    let first = try observer.waitForPeople()
    try service.control(#"{"edition":{"2":"&changed"}}"#)
    let second = try observer.wait {
      $0.people.people.dropFirst(100).first?.avatar?.hasSuffix("&changed") == true
    }.people
    directory.stop()
    #expect(try service.log(until: second).suffix(3).map(\.status) == [304, 200, 304])
    #expect(second.people.count == 250)
    let differing = zip(first.people, second.people).enumerated().filter { $1.0 != $1.1 }
    #expect(differing.map(\.offset) == Array(100..<200))
    #expect(second.people[100].avatar == "https://avatars.example/u/303?v=4&changed")
  }

  @Test(arguments: [
    ("followers:ada", "/users/ada/followers?per_page=100", "page=2"),
    ("following:ada", "/users/ada/following?per_page=100", "page=2"),
    ("users", "/users?per_page=100", "since=300"),
  ])
  func `every kind of list is followed to its end`(
    source: String, first: String, second: String
  ) throws {
    try place.setPeople(201, [])
    let directory = try start(source)
    let list = try observer.waitForPeople()
    directory.stop()
    #expect(list.people.count == 201)
    #expect(list.source == source)
    let log = try service.log()
    #expect(log.count == 3)
    #expect(log[0].path == first)
    #expect(log[1].path.hasSuffix(second))
  }

  @Test func `a list has a maximum length, and exceeding it is logged`() throws {
    try place.setPeople(1000, [])
    place.options.peopleLimit = 250
    let directory = try start("users")
    let list = try observer.waitForPeople()
    directory.stop()
    #expect(list.people.count == 250)
    #expect(try service.log().count == 3)
    #expect(
      observer.told == ["users has more than 250 people; the rest is left out (directory.max)."])
  }

  @Test(arguments: [301, 302, 307])
  func `redirects are followed`(status: Int) throws {
    try service.control(
      """
      {"instead":[{"path":"/orgs/renamed","status":\(status),
        "headers":{"Location":"\(service.url)/orgs/acme/members?role=all&per_page=100"}}]}
      """)
    let directory = try start("org:renamed")
    #expect(try observer.waitForPeople().people.count == 3)
    directory.stop()
  }

  @Test func `the token goes to no other host, neither by a redirect nor by a next page`() throws {
    let other = try FakeService()
    try other.control(#"{"people":120}"#)
    try service.control(
      """
      {"instead":[{"path":"/orgs","status":302,
        "headers":{"Location":"\(other.url)/users/ada/followers?per_page=100"}}]}
      """)
    place.options.mayConnect = { _ in true }
    let directory = try start(token: .fixed("t0ken"))
    #expect(try observer.waitForPeople().people.count == 120)
    directory.stop()
    #expect(try service.log().map { $0.header("authorization") } == ["Bearer t0ken"])
    let elsewhere = try other.log()
    #expect(elsewhere.count == 2)
    #expect(elsewhere.allSatisfy { $0.header("authorization") == nil })
  }

  @Test(arguments: ["redirect", "next page"])
  func `an answer leads to no other host of the relay's network`(way: String) throws {
    let other = try FakeService()
    try place.setPeople(150, [])
    try service.control(
      way == "redirect"
        ? """
        {"instead":[{"path":"/orgs","status":302,"headers":{"Location":"\(other.url)/users/a"}}]}
        """ : #"{"link_base":"\#(other.url)"}"#)
    let directory = try start(token: .fixed("t0ken"))
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(
      problem
        == .failed(
          "GitHub leads to \(other.url), which is neither the configured address nor a public one.",
          support: nil))
    #expect(try other.log().isEmpty)
  }

  @Test func `a redirect to another scheme is not followed`() throws {
    try service.control(
      #"{"instead":[{"path":"/","status":302,"headers":{"Location":"file:///etc/passwd"}}]}"#)
    let directory = try start()
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(problem == .failed("GitHub cannot be reached: Unsupported protocol.", support: nil))
  }

  @Test func `pages that form a circle are not followed endlessly`() throws {
    try service.control(#"{"people":250,"circle":true}"#)
    let directory = try start()
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(problem == .failed("The pages of GitHub form a cycle.", support: nil))
  }

  @Test func `a token command is run again when its token is refused`() throws {
    try service.control(#"{"token":"second"}"#)
    let folder = try TemporaryFolder()
    try folder.write("first", to: "token")
    // Like a token that has expired: the next run of the command returns another one.
    let command = "cat \(folder["token"]); echo; printf second > \(folder["token"])"
    let directory = try start(token: .command(command))
    #expect(try observer.waitForPeople().people.count == 3)
    directory.stop()
    let log = try service.log()
    #expect(log.map(\.status) == [401, 200])
    #expect(log.map { $0.header("authorization") } == ["Bearer first", "Bearer second"])
  }
}

extension RemoteDirectory {
  /// Stops it after an event.
  @discardableResult
  func stopped<Result>(after work: () throws -> Result) throws -> Result {
    defer { stop() }
    return try work()
  }
}
