import Testing

@testable import Folding

@Suite struct `A query` {
  @Test(arguments: [
    ("jose", "José said so"), ("JOSÉ", "jose"), ("strass", "Straße"), ("said jo", "José said so"),
    ("don't", "We don’t"), ("c++", "C is older than C++"), ("ff9", "FF99"),
    ("smorrebrod", "Smørrebrød"),
    ("日本", "今日本を読む"), ("語", "日本語"), ("日本 café", "Cafe in 日本"), ("iphone", "新しいiPhoneです"),
    ("🎉", "done🎉"), ("🎉", "🎊🎉🎊"), ("привет", "ПРИВЕТ!"), ("ﬁsh", "fishing"), ("한", "한국어"),
    ("ไทย", "ภาษาไทย"), ("hello\0world", "hello world"),
  ])
  func `finds words by their beginnings, in any order`(query: String, text: String) {
    #expect(SearchQuery(query).matches(text))
  }

  @Test(arguments: [
    ("ose", "José"), ("josef", "José"), ("said no", "José said so"), ("本日", "日本"),
    ("日語", "日本語"), ("", "text"), ("\"*^():-", "text"), ("\0", "\0"), ("🎉", "🎊"),
  ])
  func `finds nothing else`(query: String, text: String) {
    #expect(!SearchQuery(query).matches(text))
  }

  @Test func `is of a limited number of words, none of which says what another does`() {
    #expect(SearchQuery((0..<100).map { "w\($0)x" }.joined(separator: " ")).runs.count == 16)
    #expect(SearchQuery("a ab abc b").runs.count == 2)
    #expect(SearchQuery("... -- ''").isEmpty)
  }

  @Test(
    arguments: [
      ("tel", "Telephones and télé", ["Tel", "tél"]), ("本", "日本語", ["本"]),
      ("strasse", "die Straße", ["Straße"]), ("x", "no", []), ("e\u{301}t", "été", ["ét"]),
      ("te tele", "telex", ["tele"]),
    ] as [(String, String, [String])])
  func `tells which part of a text it finds`(query: String, text: String, parts: [String]) {
    #expect(SearchQuery(query).ranges(in: text).map { String(text[$0]) } == parts)
  }

  /// What an index relies on.
  @Test(arguments: [
    ("本語", "日本語"), ("日", "今日"), ("jo", "José"), ("日本語", "日本語学"), ("half½", "HALF½ ℀"),
    (String(repeating: "x", count: 100), String(repeating: "X", count: 200)),
  ])
  func `that finds a text has only terms with which terms of the text begin`(
    query: String, text: String
  ) {
    var terms: [ArraySlice<UInt32>] = []
    for run in SearchRun.runs(in: text) { run.forEachTerm { terms.append($0) } }
    #expect(SearchQuery(query).matches(text))
    for run in SearchQuery(query).runs {
      run.forEachWantedTerm { wanted in #expect(terms.contains { $0.starts(with: wanted) }) }
    }
    for term in terms {
      #expect(term.count <= SearchRun.termLimit)
      #expect(
        term.allSatisfy {
          $0 >= 0x80 || Character(Unicode.Scalar(UInt8($0))).isLetter
            || Character(Unicode.Scalar(UInt8($0))).isNumber
        })
    }
  }
}
