import Glibc
import Testing

/// The relay's own account of its directory; what clients are told of people is tested elsewhere.
@Suite struct `A relay and its directory` {
  @Test func `the file of people is read again when it changes, and a mistake is told with its line`()
    throws
  {
    let folder = try Folder()
    try folder.write("- { user: Ada, name: Ada Lovelace }\n", to: "people.yaml")
    let relay = try RelayProcess(
      "directory: { file: \(folder["people.yaml"]) }", in: folder)
    try relay.process.waitForErrors { $0.contains("directory: 1 person from ") }
    try folder.write("- { user: ada }\n- { usr: bo }\n", to: "people.yaml")
    try relay.process.waitForErrors {
      $0.contains("people.yaml:2: [1].usr is not a known key; did you mean [1].user?")
        && $0.contains("The list of people has a mistake in line 2. Until it passes: 1 person")
    }
    try folder.write("- { user: ada }\n- { user: bo }\n", to: "people.yaml")
    try relay.process.waitForErrors { $0.contains("directory: 2 people from ") }
    #expect(try relay.stop() == .exit(0))
  }

  @Test func `people of GitHub are kept: a restart without network has them`() throws {
    let service = try ChildProcess(["/usr/bin/python3", "\(Programs.package)/Tests/DirectoriesTests/directory.py"])
    try service.waitForOutput { $0.hasSuffix("\n") }
    let port = service.output.dropLast()
    let relay = try RelayProcess(
      """
      directory:
        kind: github
        source: org:acme
        base_url: http://127.0.0.1:\(port)
        token_command: echo t0ken
        refresh_s: 1
      """)
    try relay.process.waitForErrors { $0.contains("directory: 3 people from org:acme") }
    #expect(try relay.stop() == .exit(0))
    service.closeInput()
    try service.wait()
    try relay.start()
    try relay.process.waitForErrors {
      $0.contains("GitHub cannot be reached: Couldn't connect to server. Until it passes: 3 people")
    }
    let told = relay.process.errors
    #expect(!told.contains("t0ken"))
    var status = stat()
    #expect(unsafe stat("\(relay.dataDirectory)/directory.json", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(try relay.stop() == .exit(0))
  }
}
