import TestSupport
import Testing

extension `End to end` {
  /// People who sign in: `accounts.py`, `accounts_github.py` and `accounts_oidc.py` play the cases.
  @Suite struct `Accounts` {
    private func play(_ name: String, of program: String = "accounts.py", _ more: String...) throws
    {
      let peer = try ChildProcess(
        ["/usr/bin/python3", "-B", Programs.peer(program), name, Programs.relay] + more)
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
    }

    @Test func `the first link makes an operator, who lets others in by links`() throws {
      try play("signing_in")
    }

    @Test func `the other modes say what they are, and have no accounts`() throws {
      try play("other_modes")
    }

    @Test func `sessions survive a restart, and the link of an earlier start does not`() throws {
      try play("kept")
    }

    @Test func `an ended session is out at once, on every loop and over HTTP`() throws {
      try play("ended")
    }

    @Test func `a cookie counts last, and only for the relay's own page`() throws {
      try play("cookies")
    }

    @Test func `relays that share a PostgreSQL have one list of accounts, sessions and codes`()
      throws
    {
      let server = try PostgresServer()
      defer { server.stop() }
      try play("cluster", server.url)
    }

    @Test func `over https the cookie is bound to the host`() throws { try play("tls") }

    @Test func `operators list, disable and sign out users from a shell`() throws {
      try play("operators")
    }

    @Test func `what operators change over HTTP or from a shell is recorded`() throws {
      try play("administration")
    }

    @Test func `people sign in at GitHub, whatever goes wrong there`() throws {
      try play("github", of: "accounts_github.py")
    }

    @Test func `only members of the organization at GitHub enter`() throws {
      try play("github_organization", of: "accounts_github.py")
    }

    @Test func `who leaves the organization or revokes the application is signed out`() throws {
      try play("github_gone", of: "accounts_github.py")
    }

    @Test(arguments: ["people", "forged", "rotated", "mixed_up", "groups"])
    func `people sign in at an OpenID provider, and no forgery passes`(name: String) throws {
      try play(name, of: "accounts_oidc.py")
    }

    @Test func `a person of the directory who signs in at GitHub is known by the number`() throws {
      try play("github_directory", of: "accounts_github.py")
    }

    @Test func `owners and moderators invite to their rooms, and to no others`() throws {
      try play("rooms")
    }

    @Test func `an export carries accounts without sessions`() throws { try play("exported") }
  }
}
