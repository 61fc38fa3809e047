import TestSupport
import Testing

/// `config/release` in a repository of its own, with the files that it reads and a key for this test. The package for
/// Debian is left out: it needs a release build, and `make test-deb` tests it.
@Suite struct `A release` {
  private static let version = "0.1.0"
  private let folder: TemporaryFolder
  private var repository: String { folder["repository"] }

  init() throws {
    folder = try TemporaryFolder()
    let repository = folder["repository"]
    for file in [
      "config/release", "CHANGELOG.md", "Sources/Server/Server/Server.swift",
      "Sources/Commands/WschatCommand/Wschat.swift",
      "LoadTests/swarm/Command/SwarmCommand.swift",
      "Sources/JavaScript/relay-client/package.json", "docs/asyncapi.yaml",
      "Sources/Protocol/Wire/Wire.docc/Protocol.md",
    ] {
      let name = file.split(separator: "/").dropLast().joined(separator: "/")
      try run("mkdir", "-p", "\(repository)/\(name)")
      try run("cp", Project[file], "\(repository)/\(file)")
    }
    try git("init", "--quiet")
    try commit()
    try run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "a test", "-f", folder["key"])
  }

  @discardableResult
  private func git(_ arguments: String...) throws -> String {
    let process = try ChildProcess(
      [
        "git", "-C", repository, "-c", "user.name=A test", "-c", "user.email=test@localhost", "-c",
        "commit.gpgsign=false",
      ] + arguments, input: "")
    guard try process.wait() == .exit(0) else { throw Unexpected(process.errors) }
    return process.output
  }

  private func commit() throws {
    try git("add", "--all")
    try git("commit", "--quiet", "--message", "A commit")
  }

  private func release(_ arguments: String...) throws -> (ChildProcess.Outcome, String) {
    let process = try ChildProcess(
      ["\(repository)/config/release"] + arguments, environment: ["RELEASE_PARTS=sources"],
      input: "")
    return (try process.wait(), process.output + process.errors)
  }

  private func addStore() throws {
    let store = "\(repository)/Tests/Stores/\(Self.version)"
    try run("mkdir", "-p", store)
    try run("sh", "-c", "echo >'\(store)/relay.db.gz'")
  }

  @Test func `has a changelog with its date, its sources, and checksums that its key has signed`()
    throws
  {
    #expect(try release("ready") == (.exit(0), "\(Self.version)\n"))
    #expect(try release("cut", "2026-12-01") == (.exit(0), "\(Self.version)\n"))
    #expect(try git("diff", "--stat").contains("CHANGELOG.md | 2 +-"))
    #expect(
      try readFile("\(repository)/CHANGELOG.md").contains("\n## \(Self.version), 2026-12-01\n"))
    try addStore()
    try commit()
    #expect(try release("check") == (.exit(0), "\(Self.version)\n"))

    let made = folder["made"]
    let (packed, output) = try release("pack", "none", made, folder["key"])
    #expect(packed == .exit(0), "\(output)")
    #expect(
      try run("ls", made)
        == "SHA256SUMS\nSHA256SUMS.sig\nrelay-\(Self.version).tar.gz\n")
    try run("sh", "-c", "cd '\(made)' && sha256sum --check --strict SHA256SUMS")
    let names = try run("tar", "-tzf", "\(made)/relay-\(Self.version).tar.gz")
    #expect(names.contains("relay-\(Self.version)/CHANGELOG.md\n"))
    try run(
      "sh", "-c", "echo maintainer $(cat '\(folder["key.pub"])') >'\(folder["signers"])'")
    let verify =
      "ssh-keygen -Y verify -f '\(folder["signers"])' -I maintainer -n relay-release -s '\(made)/SHA256SUMS.sig'"
    try run("sh", "-c", "\(verify) <'\(made)/SHA256SUMS'")
    #expect(throws: (any Error).self) { try run("sh", "-c", "echo changed | \(verify)") }
    // The same commit makes the same file.
    let again = folder["again"]
    _ = try release("pack", "none", again, folder["key"])
    try run("cmp", "\(made)/SHA256SUMS", "\(again)/SHA256SUMS")
  }

  @Test func `is refused with changes, without its store, and if its version has a tag`() throws {
    try run("sh", "-c", "echo >>'\(repository)/CHANGELOG.md'")
    var (outcome, text) = try release("cut")
    #expect(outcome == .exit(1))
    #expect(text.contains("there are changes that are not committed"))
    try commit()
    (outcome, text) = try release("check")
    #expect(outcome == .exit(1))
    #expect(text.contains("begins with \"## Unreleased (0.1.0)\""))
    _ = try release("cut", "2026-12-01")
    try commit()
    (outcome, text) = try release("pack", "none", folder["made"], folder["key"])
    #expect(outcome == .exit(1))
    #expect(text.contains("Tests/Stores/\(Self.version) has no store of this version"))
    try git("tag", "v\(Self.version)")
    try addStore()
    try commit()
    (outcome, text) = try release("pack", "none", folder["made"], folder["key"])
    #expect(outcome == .exit(1))
    #expect(text.contains("the tag v\(Self.version) exists"))
  }

  @Test func `is refused if a program has another version`() throws {
    try run(
      "sed", "-i", "s/version = \"0.1.0\"/version = \"0.1.1\"/",
      "\(repository)/Sources/Server/Server/Server.swift")
    try commit()
    let (outcome, text) = try release("ready")
    #expect(outcome == .exit(1))
    #expect(
      text.contains("Sources/Server/Server/Server.swift does not contain version = \"0.1.0\""))
  }

  @Test func `has no date that is none, and changes nothing for it`() throws {
    let (outcome, text) = try release("cut", "tomorrow")
    #expect(outcome == .exit(2))
    #expect(text.contains("expected YYYY-MM-DD"))
    #expect(try git("status", "--porcelain") == "")
  }
}
