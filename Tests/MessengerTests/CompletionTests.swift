import Testing

@testable import Messenger

@Suite struct `Completion of a word` {
  static let users = [
    (user: "bob", name: "Bob"), (user: "ada", name: "Ada Lovelace"),
    (user: "adam", name: "Adam Ries"), (user: "jn", name: "José Núñez"),
    (user: "echo", name: "echo"),
  ]

  private func completion(_ text: String) -> Completion? {
    Completion(before: TextEditor(text), users: Self.users)
  }

  @Test(arguments: [
    ("hi @ad", ["@ada ", "@adam "]), ("@lov", ["@ada "]), ("(@nun", ["@jn "]),
    ("@", ["@bob ", "@ada ", "@adam ", "@jn ", "@echo "]), ("a\n@BOB", ["@bob "]),
  ])
  func `a name is found for the word before the cursor`(
    text: String, replacements: [String]
  ) throws {
    let found = try #require(completion(text))
    #expect(found.candidates.map(\.replacement) == replacements)
    #expect(found.selected == 0)
  }

  @Test(arguments: [
    "", "ad", "mail@ad", "@ad a", "@nobody", "12:30", "http://sm", ":s", ": smile", ":zzzq", "@@ad",
    "::sm",
  ])
  func `without a completable word nothing is offered`(text: String) {
    #expect(completion(text) == nil)
  }

  @Test func `a person is shown by name and user`() throws {
    #expect(try #require(completion("@lov")).candidates[0].label == "Ada Lovelace  @ada")
    #expect(try #require(completion("@ech")).candidates[0].label == "@echo")
  }

  @Test func `an emoji replaces its name`() throws {
    let found = try #require(completion("well :smi"))
    #expect(found.candidates[0] == .init(replacement: "😄", label: "😄 :smile:"))
    #expect(found.candidates.count <= 8)
    var editor = TextEditor("well :smi")
    editor.replaceWord(with: found.candidates[0].replacement)
    #expect(editor.text == "well 😄")
  }

  @Test func `only the text before the cursor counts`() throws {
    var editor = TextEditor("hi @ad there")
    for _ in 0..<6 { editor.moveLeft() }
    let found = try #require(Completion(before: editor, users: Self.users))
    editor.replaceWord(with: found.candidates[1].replacement)
    #expect(editor.text == "hi @adam  there")
    #expect(editor.column == 9)
  }
}
