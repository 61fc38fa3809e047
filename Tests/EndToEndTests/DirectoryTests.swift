import Glibc
import Platform
import TestSupport
import Testing
import Wire

@Suite struct `A relay and its directory` {
  @Test func `the file of people is read again when it changes, and an error in it is reported`()
    throws
  {
    let folder = try TemporaryFolder()
    try folder.write("- { user: Ada, name: Ada Lovelace }\n", to: "people.yaml")
    let relay = try RelayProcess(
      "directory: { file: \(folder["people.yaml"]) }\npeople: { seen: false }", in: folder)
    try relay.process.waitForErrors { $0.contains("The directory has 1 person from ") }
    let cy = try RawClient(relay, user: "cy")
    #expect(try cy.people().map(\.name) == ["Ada Lovelace"])

    try folder.write("- { user: ada }\n- { usr: bo }\n", to: "people.yaml")
    let error = try cy.directoryError()
    #expect(error.code == .directoryFailed)
    #expect(error.message.contains("The list of people has an error in line 2."))
    #expect(try cy.people().map(\.name) == ["Ada Lovelace"])
    try relay.process.waitForErrors {
      $0.contains("people.yaml:2: [1].usr is not a known key; did you mean [1].user?")
    }

    try folder.write("- { user: ada }\n- { user: bo }\n", to: "people.yaml")
    try relay.process.waitForErrors { $0.contains("The directory has 2 people from ") }
    #expect(try cy.people().map(\.user) == ["ada", "bo"])
    #expect(try relay.stop() == .exit(0))
  }

  @Test func `people of GitHub are kept: a restart without network has them`() throws {
    let service = try service()
    // A proxy that does not exist, and is not used for this machine.
    let relay = try RelayProcess(
      gitHub(service, "token_command: echo t0ken"), under: ["env", "http_proxy=http://127.0.0.1:1"])
    try relay.process.waitForErrors { $0.contains("The directory has 3 people from org:acme") }
    #expect(try relay.stop() == .exit(0))
    service.closeInput()
    try service.wait()

    try relay.start()
    try relay.process.waitForErrors {
      $0.contains(
        "GitHub cannot be reached: Couldn't connect to server. The directory has 3 people")
    }
    let cy = try RawClient(relay, user: "cy")
    #expect(try cy.people().map(\.name) == ["Person-0001", "Person-0002", "Person-0003"])
    #expect(try cy.directoryError().code == .directoryFailed)
    #expect(!relay.process.errors.contains("t0ken"))
    var status = stat()
    #expect(unsafe stat("\(relay.dataFolder)/directory.json", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(try relay.stop() == .exit(0))
  }

  @Test func `a rate limit is reported with its end, and is over then`() throws {
    let reset = WallClock.milliseconds / 1000 + 8
    let service = try service(#"{"remaining":0,"limit":null,"reset":\#(reset)}"#)
    let relay = try RelayProcess(gitHub(service))
    let cy = try RawClient(relay, user: "cy")
    try relay.process.waitForErrors {
      $0.contains("The directory's service limits the rate of requests")
    }
    #expect(try cy.people().isEmpty)
    let error = try cy.directoryError()
    #expect(error.code == .directoryLimited)
    #expect(error.resetAt == reset * 1000)
    try relay.process.waitForErrors { $0.contains("The directory has 3 people from org:acme") }
    #expect(WallClock.milliseconds >= reset * 1000)
    #expect(try cy.people().count == 3)
    #expect(try relay.stop() == .exit(0))
  }

  @Test func `a service without a valid certificate gets no request`() throws {
    let certificates = try Certificates()
    try certificates.use("server", key: "server")
    let impostor = try RelayProcess(certificates.configuration)
    let relay = try RelayProcess(
      """
      directory: { kind: github, source: users, token: t0ken, base_url: "https://127.0.0.1:\(impostor.port)" }
      """)
    try relay.process.waitForErrors {
      $0.contains("GitHub cannot be reached: SSL peer certificate or SSH remote key was not OK.")
    }
    #expect(try relay.stop() == .exit(0))
  }

  /// GitHub on loopback; see Tests/DirectoriesTests.
  private func service(_ state: String = "{}") throws -> ChildProcess {
    let script = Project["Tests/DirectoriesTests/directory.py"]
    let service = try ChildProcess(["/usr/bin/python3", script, state])
    try service.waitForOutput { $0.hasSuffix("\n") }
    return service
  }

  private func gitHub(_ service: ChildProcess, _ more: String = "") -> String {
    """
    people: { seen: false }
    directory:
      kind: github
      source: org:acme
      base_url: http://127.0.0.1:\(service.output.dropLast())
      refresh_s: 1
      \(more)
    """
  }
}

extension RawClient {
  /// Asks for people.
  fileprivate func people() throws -> [ServerMessage.PersonRow] {
    try send(#"{"type":"people"}"#)
    return try first { message in
      if case .people(let page) = message { page.people } else { nil }
    }
  }

  /// Waits for what keeps the list from being newer.
  fileprivate func directoryError() throws -> WireError {
    try first { message in
      if case .error(let error) = message, error.re == .people { error } else { nil }
    }
  }
}
