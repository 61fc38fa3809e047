import Emojis
import Terminal
import Testing

@testable import Messenger

@Suite struct `Emoji and their names` {
  @Test func `every name is typed as one word and names one emoji, which is one character`() {
    var seen: Set<String> = []
    for emoji in Emoji.all {
      #expect(emoji.emoji.count == 1, "\(emoji)")
      #expect(seen.insert(emoji.code).inserted, "\(emoji)")
      #expect(!emoji.code.isEmpty)
      #expect(
        emoji.code.utf8.allSatisfy {
          (97...122).contains($0) || (48...57).contains($0) || [43, 45, 95].contains($0)
        }, "\(emoji)")
    }
    #expect(Emoji.all.count > 300)
  }

  @Test func `those to react with are emoji that have a name`() {
    let known = Set(Emoji.all.map(\.emoji))
    #expect(Emoji.quick.allSatisfy(known.contains))
    #expect(Set(Emoji.quick).count == Emoji.quick.count)
  }

  @Test(arguments: [
    ("smile", ["😄"]), ("hea", ["🙉", "😍", "😻", "❤️"]), ("eyes", ["👀", "😍"]), ("TAD", ["🎉"]),
    ("+1", ["👍"]), ("nothing_so", []),
  ])
  func `names are found by their beginning or that of a word`(letters: String, first: [String]) {
    let found = Emoji.matching(letters).map(\.emoji)
    if letters == "hea" {
      #expect(Set(found).isSuperset(of: first))
    } else {
      #expect(Array(found.prefix(first.count)) == first)
      #expect(found.isEmpty == first.isEmpty)
    }
  }
}
