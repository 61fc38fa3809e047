import Glibc
import Relay
import TestSupport
import Testing

@testable import Directories

@Suite struct `People from a file` {
  let folder: TemporaryFolder
  let observer: Observer
  private var path: String { folder["people.yaml"] }

  init() throws {
    folder = try TemporaryFolder()
    observer = try Observer()
  }

  private func start(mayBeMissing: Bool = false) throws -> LocalDirectory {
    let directory = try LocalDirectory(
      file: path, mayBeMissing: mayBeMissing, pollMilliseconds: 10, report: observer.report)
    directory.start(publish: observer.publish)
    return directory
  }

  @Test func `user, name and avatar are read as written`() throws {
    try folder.write(
      """
      - user: Ada
      - { user: bo, name: "  Bo\\nBobson ", avatar: https://pictures.example/bo.png }
      """, to: "people.yaml")
    let directory = try start()
    let list = try observer.waitForPeople()
    directory.stop()
    #expect(
      list.people == [
        Person(user: "ada", name: "Ada"),
        Person(user: "bo", name: "Bo Bobson", avatar: "https://pictures.example/bo.png"),
      ])
    #expect(list.source == "local")
  }

  @Test func `an optional file that is missing means no people, and changes are noticed`() throws {
    let directory = try start(mayBeMissing: true)
    #expect(try observer.waitForPeople().people.isEmpty)
    try folder.write("- { user: ada }", to: "people.yaml")
    try observer.wait { $0.people.people.count == 1 }
    let count = observer.seen.count
    _ = unsafe unlink(path)
    try observer.wait(from: count) { $0.people.people.isEmpty && $0.problem == nil }
    directory.stop()
    #expect(observer.told.isEmpty)
  }

  @Test func `a required file that is missing is reported`() throws {
    let directory = try start()
    let problem = try observer.waitForProblem().problem
    directory.stop()
    #expect(problem == .failed("The list of people cannot be read.", support: nil))
    #expect(
      observer.told == [
        "\(path) cannot be read: open \(path): No such file or directory. "
          + "Set directory.file to a file that the relay can read."
      ])
  }

  @Test(arguments: [
    ("user: ada", 1, "is a mapping; expected a list such as [{ user: ada, name: Ada }]"),
    ("- ada", 1, #"[0] is "ada"; expected keys and values"#),
    (
      "- { user: ada }\n- { nmae: Bo, user: bo }", 2,
      "[1].nmae is not a known key; did you mean [1].name?"
    ),
    ("- { name: Ada }", 1, "[0].user is missing; expected a user name"),
    ("- { user: ada, name: ' ' }", 1, #"[0].name is " "; expected a printable name"#),
    (
      "- user: ada\n  avatar: \"javascript:alert(1)\"", 2,
      #"[0].avatar is "javascript:alert(1)"; expected an http or https address"#
    ),
    ("- { user: [", 2, "this is not YAML; did not find expected node content"),
  ])
  func `an error is reported with its line, and the list stays`(
    yaml: String, line: Int, sentence: String
  ) throws {
    try folder.write("- { user: bo }", to: "people.yaml")
    let directory = try start()
    try observer.waitForPeople()
    try folder.write(yaml, to: "people.yaml")
    let update = try observer.waitForProblem()
    directory.stop()
    #expect(update.people.people.map(\.user) == ["bo"])
    #expect(
      update.problem == .failed("The list of people has an error in line \(line).", support: nil))
    #expect(observer.told == ["\(path):\(line): \(sentence)"])
  }

  @Test func `people without a valid name are left out, counted and reported`() throws {
    try folder.write("- { user: ada }\n- { user: two words }\n- { user: '' }", to: "people.yaml")
    let directory = try start()
    let list = try observer.waitForPeople()
    directory.stop()
    #expect(list.people.map(\.user) == ["ada"])
    #expect(list.leftOut == 2)
    #expect(
      observer.told == [
        #"\#(path):2: [1].user is "two words" and left out; expected 1 to 64 of a-z 0-9 . _ -, not . or .."#,
        #"\#(path):3: [2].user is "" and left out; expected 1 to 64 of a-z 0-9 . _ -, not . or .."#,
      ])
  }

  @Test func `a device or a folder is no list, and is not read to its end`() throws {
    for path in ["/dev/zero", "/"] {
      let check = LocalDirectory.check(file: path, mayBeMissing: true)
      #expect(check.wrong.count == 1)
    }
  }

  @Test func `the project's own example is read without a problem`() {
    let check = LocalDirectory.check(file: Project["config/people.yaml"], mayBeMissing: false)
    #expect(check.wrong == [])
    #expect(check.remarks == [])
  }
}
