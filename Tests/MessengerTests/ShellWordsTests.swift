import Testing

@testable import Messenger

@Suite struct `Words of a line, as a shell reads them` {
  @Test(
    arguments: [
      ("a b", ["a", "b"]), ("  a  ", ["a"]), ("", []), ("a\\ b", ["a b"]),
      ("'a b' c", ["a b", "c"]),
      (#""a \"b\" \c""#, [#"a "b" \c"#]), (#"'a\b'"#, [#"a\b"#]), ("it\\'s", ["it's"]),
      ("a'b c'd", ["ab cd"]), ("''", [""]), ("\\~", ["~"]), ("/tmp/日本\\ 語.txt", ["/tmp/日本 語.txt"]),
    ] as [(String, [String])])
  func `are taken apart at white space that is not quoted`(line: String, words: [String]) {
    let read = ShellWords(line)
    #expect(read.words.map(\.text) == words)
    #expect(read.words.allSatisfy { !$0.isOpen })
  }

  @Test(arguments: ["'a", "\"a", "a\\", "a 'b c"])
  func `a quote that is not closed is known`(line: String) {
    #expect(ShellWords(line).words.last?.isOpen == true)
  }

  @Test(arguments: ["a", "a b", "it's", "a\"b", "$(rm -rf ~)", "a\\b", "--", "日本 語", "*?;&|<>"])
  func `what is escaped is read as it was`(text: String) {
    let escaped = ShellWords.escaped(text)
    #expect(ShellWords(escaped).words.map(\.text) == [text])
  }
}
