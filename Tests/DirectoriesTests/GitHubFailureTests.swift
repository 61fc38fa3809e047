import Relay
import TestSupport
import Testing

@testable import Directories

@Suite struct `GitHub with errors`: GitHubSuite {
  let place: ServicePlace
  let observer: Observer

  init() throws { (place, observer) = try Self.gitHub() }

  @Test func `a refused token is reported with the id for support, and without the token`() throws {
    try service.control(#"{"token":"right"}"#)
    let directory = try start(token: .fixed("wr0ng"))
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(
      problem == .failed("GitHub rejected the credentials (401).", support: "REQ:1"))
    #expect(observer.told == ["GitHub rejected the credentials (401). Bad credentials"])
  }

  @Test func `a missing organization is reported`() throws {
    let directory = try start("org:nobody")
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(problem == .failed("GitHub did not find the source (404).", support: "REQ:1"))
  }

  @Test func `a refusal other than a limit is reported with GitHub's words`() throws {
    try service.control(
      """
      {"instead":[{"path":"/","status":403,
        "body":"{\\"message\\":\\"Resource protected by organization SAML enforcement.\\"}"}]}
      """)
    let directory = try start()
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(
      problem
        == .failed(
          "GitHub denied access: Resource protected by organization SAML enforcement (403).",
          support: "REQ:1"))
  }

  @Test(arguments: [
    (#""status":502,"body":"<html>""#, "GitHub reported a server error (502)."),
    (#""body":"<html>not JSON</html>""#, "GitHub returned a response that is not JSON."),
    (#""body":"[{\"login\":\"ada\"},""#, "GitHub returned a response that is not JSON."),
    (#""body":"{\"message\":\"hi\"}""#, "GitHub returned a response that is not a list of people."),
    (#""body":"[{\"id\":1}]""#, "GitHub returned a person without a login."),
    (#""status":304"#, "GitHub returned an unexpected status (304)."),
    (#""status":204"#, "GitHub returned an unexpected status (204)."),
    (
      #""body":"[{\"login\":\"ada\"}]","mode":"half""#,
      "GitHub cannot be reached: Transferred a partial file."
    ),
    (#""body":"[","mode":"slow""#, "GitHub cannot be reached: Timeout was reached."),
    (#""mode":"endless""#, "GitHub returned more than 8 MiB."),
    (
      #""body":"[]","headers":{"Link":"<file:///etc/passwd>; rel=\"next\""}"#,
      "GitHub returned a next page that is not an http or https address."
    ),
  ])
  func `an unreadable answer is reported, and requested again`(answer: String, text: String) throws
  {
    place.options.requestTimeoutMilliseconds = 1500
    try service.control("{\"instead\":[{\"path\":\"/\",\(answer)}]}")
    let directory = try start()
    let problem = try observer.waitForProblem().problem
    guard case .failed(text, _)? = problem else {
      directory.stop()
      throw Unexpected("\(String(describing: problem))")
    }
    #expect(try observer.waitForPeople().people.count == 3)
    directory.stop()
  }

  @Test func `pages that were read before a failure are not read again`() throws {
    try place.setPeople(450, [])
    try service.control(
      #"{"instead":[{"path":"/organizations/9919/members?role=all&per_page=100&page=3","status":500}]}"#
    )
    let directory = try start()
    #expect(try observer.waitForPeople().people.count == 450)
    directory.stop()
    let pages = try service.log().map { $0.path.split(separator: "=").last.map(String.init) ?? "" }
    #expect(pages == ["100", "2", "3", "3", "4", "5"])
    #expect(observer.seen.allSatisfy { [0, 450].contains($0.people.people.count) })
  }

  @Test func `pages that were read before a restart are not read again`() throws {
    try place.setPeople(450, [])
    let broken =
      #"{"path":"/organizations/9919/members?role=all&per_page=100&page=3","status":500}"#
    try service.control("{\"instead\":[\(broken)]}")
    place.options.retryMilliseconds = 60_000...60_000
    let first = try start()
    try observer.waitForProblem()
    first.stop()
    let after = try Observer()
    let second = try after.start(place.make("org:acme", after))
    #expect(try after.waitForPeople().people.count == 450)
    second.stop()
    #expect(try service.log().count == 6)
  }

  @Test func `a page that no longer exists restarts the list`() throws {
    try place.setPeople(250, [])
    try service.control(
      #"{"instead":[{"path":"/organizations/9919/members?role=all&per_page=100&page=2","status":404}]}"#
    )
    let directory = try start()
    #expect(try observer.waitForPeople().people.count == 250)
    directory.stop()
    #expect(try service.log().count == 5)
  }

  @Test func `the same problem is reported once`() throws {
    let broken = Array(repeating: #"{"path":"/","status":502}"#, count: 3).joined(separator: ",")
    try service.control("{\"instead\":[\(broken)]}")
    let directory = try start()
    try observer.waitForPeople()
    directory.stop()
    #expect(observer.seen.filter { $0.problem != nil }.count == 1)
    #expect(try service.log().count == 4)
  }

  @Test func `a failed connection is reported in words, with details for the operator`() throws {
    // It ends immediately with its object.
    let url = try FakeService().url
    let directory = try RemoteDirectory.gitHub(
      .users, baseURL: url, token: .none, options: place.options, report: observer.report)
    directory.start(publish: observer.publish)
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(
      problem == .failed("GitHub cannot be reached: Couldn't connect to server.", support: nil))
    #expect(observer.told.first?.contains("127.0.0.1 port") == true)
  }

  @Test func `stop does not wait for an answer`() throws {
    try service.control(#"{"instead":[{"path":"/","body":"[","mode":"slow"}]}"#)
    let directory = try start()
    try observer.wait { _ in true }
    while try service.log().isEmpty {}
    #expect(returnsSoon(directory.stop))
    #expect(observer.seen.count == 1)
  }

  @Test(arguments: [
    ("exit 3", "The token command failed (exit code 3)."),
    ("kill -9 $$", "The token command failed (signal 9)."),
    ("true", "The token command printed no token."),
    ("echo two words", "The token command printed more than a token."),
    ("head -c 20000 /dev/zero", "The token command printed more than a token."),
    ("exec /nowhere/at/all 2>/dev/null", "The token command failed (exit code 127)."),
  ])
  func `a token command that fails is reported, and no request is sent`(
    command: String, text: String
  ) throws {
    let directory = try start(token: .command(command))
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(problem == .failed(text, support: nil))
    #expect(try service.log().isEmpty)
  }

  @Test func `stop does not wait for a token command, nor for what it started`() throws {
    let folder = try TemporaryFolder()
    let command = "touch \(folder["began"]); sleep 60 & sleep 60"
    let directory = try start(token: .command(command))
    while folder.names.isEmpty {}
    #expect(returnsSoon(directory.stop))
  }

  @Test func `a token command has a time limit`() throws {
    let stop = try StopSignal()
    let error = #expect(throws: FetchError.self) {
      try TokenCommand.run("sleep 60", stop, timeoutMilliseconds: 200)
    }
    #expect(error == .failed("The token command did not exit within 0 s."))
    #expect(try TokenCommand.run("sleep 60 & echo t0ken", stop) == "t0ken")
  }
}
