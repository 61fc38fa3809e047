import TestSupport
import Testing

/// Words that docs/glossary.md replaces, so that one thing keeps one name. This file has all of them,
/// which shows that each is found.
@Suite struct `Words` {
  private static let file = "Tests/PackageTests/WordsTests.swift"

  /// Names that were replaced, words with several meanings, and fragments.
  @Test(arguments: [
    // isFull, evictIdle; isAuthenticated; exitMessage, lastOutput; lastConnectionError.
    "isRested", "forgetRested", "isLetIn", "lastWords", "lastComplaint",
    "subscribe.let enter",
    // The commit lock, a layer, a data folder, a publisher, a referee.
    "take_turn", "takes the turn", "holds the turn", "turnKey", "enum Floor: String",
    "data directory", "dataDirectory", "DirectoryLock", "LoopDoor", "Court", "class Desk", "Keeper",
    // Index, segment, lookup, redact, membership.
    "settler", "shelf", "sighting", "blanking", "belonging", "belongings",
    // A user, all clients, another program: by their roles.
    "somebody", "everybody", "whom",
    // A number with its unit; cannot be combined; without TLS.
    "so often", "so many", "exclude each other", "in clear", "out to hurt",
    "Needs only the belonging",
  ])
  func `that the glossary replaces are not used`(pattern: String) throws {
    #expect(try files(with: "(?i)\(pattern)") == [Self.file])
  }

  /// In tests it is the name of a user.
  @Test func `nobody is not a role`() throws {
    let found = try files(with: "(?i)nobody", in: ["Sources", "docs", "config", "README.md"])
    #expect(found.allSatisfy { $0.hasSuffix(".js") }, "\(found)")
  }

  /// Such a sentence has no subject: "Of a user", "So many rooms", "Has the next batch tell".
  @Test func `a comment on a declaration does not begin with a fragment`() throws {
    let fragment = "^ */// (Of (a|the|these|this|what)|So many|Has the) .*"
    #expect(try files(with: fragment, in: ["Sources", "LoadTests"]) == [])
  }

  /// Returns the files in which a regular expression matches whole words.
  private func files(
    with pattern: String,
    in places: [String] = [
      "Sources", "LoadTests", "Tests", "docs", "config", "README.md", "CONTRIBUTING.md",
      "SECURITY.md",
    ]
  ) throws -> [String] {
    let script = """
      cd "$1"; pattern=$2; shift 2
      grep --recursive --files-with-matches --word-regexp --perl-regexp \
        --binary-files=without-match --exclude-dir=results --exclude-dir=corpus \
        --regexp="$pattern" "$@" || [ $? -eq 1 ]
      """
    let process = try ChildProcess(
      ["sh", "-c", script, "sh", Project.path, pattern] + places, input: "")
    let outcome = try process.wait()
    try #require(outcome == .exit(0), "\(process.errors)")
    return process.output.split(separator: "\n").map(String.init).sorted()
  }
}
