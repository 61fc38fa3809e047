import TestSupport
import Testing

/// Words that docs/glossary.md replaces, so that one thing keeps one name. This file has all of them,
/// which shows that each is found.
@Suite struct `Words` {
  private static let file = "Tests/PackageTests/WordsTests.swift"

  /// Names that were replaced, words with several meanings, and fragments.
  private static let replaced = [
    // isFull, evictIdle; isAuthenticated; exitMessage, lastOutput; lastConnectionError.
    "isRested", "forgetRested", "isLetIn", "lastWords", "lastComplaint",
    "subscribe(let enter",
    // The commit lock, a layer, a data folder, a publisher, a referee.
    "take_turn", "takes the turn", "holds the turn", "turnKey", "enum Floor: String",
    "data directory", "dataDirectory", "DirectoryLock", "LoopDoor", "Court", "class Desk", "Keeper",
    // Index, segment, lookup, redact, membership.
    "settler", "shelf", "sighting", "blanking", "belonging", "belongings",
    // To share uploads with other relays.
    "UploadStage", "UploadStager", "StagedUpload", "files-stage",
    // A user, all clients, another program: by their roles.
    "somebody", "everybody", "whom",
    // A number with its unit; cannot be combined; without TLS.
    "so often", "so many", "exclude each other", "in clear", "out to hurt",
    "Needs only the belonging",
  ]

  private static let places = [
    "Sources", "LoadTests", "Tests", "docs", "config", "README.md", "CONTRIBUTING.md",
    "SECURITY.md",
  ]

  @Test func `that the glossary replaces are not used`() throws {
    let words = Self.replaced.map { "\\Q\($0)\\E" }.joined(separator: "|")
    let uses = try uses(of: "(?i)(\(words))", in: Self.places)
    #expect(uses.filter { $0.file != Self.file }.map { "\($0.file): \($0.text)" } == [])
    #expect(Set(uses.map { $0.text.lowercased() }) == Set(Self.replaced.map { $0.lowercased() }))
  }

  /// In tests it is the name of a user.
  @Test func `nobody is not a role`() throws {
    let files = try uses(of: "(?i)nobody", in: ["Sources", "docs", "config", "README.md"])
      .map(\.file)
    #expect(files.allSatisfy { $0.hasSuffix(".js") }, "\(files)")
  }

  /// Such a sentence has no subject: "Of a user", "So many rooms", "Has the next batch tell".
  @Test func `a comment on a declaration does not begin with a fragment`() throws {
    let fragment = "^ */// (Of (a|the|these|this|what)|So many|Has the) .*"
    #expect(try uses(of: fragment, in: ["Sources", "LoadTests"]).map(\.text) == [])
  }

  /// Returns the files in which a regular expression matches whole words, and what it matches there.
  private func uses(
    of pattern: String, in places: [String]
  ) throws -> [(file: String, text: String)] {
    let script = """
      cd "$1"; pattern=$2; shift 2
      grep --recursive --with-filename --only-matching --word-regexp --perl-regexp \
        --binary-files=without-match --exclude-dir=results --exclude-dir=corpus \
        --regexp="$pattern" "$@" || [ $? -eq 1 ]
      """
    let process = try ChildProcess(
      ["sh", "-c", script, "sh", Project.path, pattern] + places, input: "")
    let outcome = try process.wait()
    try #require(outcome == .exit(0), "\(process.errors)")
    return process.output.split(separator: "\n").map { line in
      (String(line.prefix { $0 != ":" }), String(line.drop { $0 != ":" }.dropFirst()))
    }
  }
}
