import Client
import Folding
import Terminal
import Testing
import Wire

@testable import Messenger

/// Ctrl+R.
private let findKey = Key(.character("r"), .control)

extension Harness {
  fileprivate var searched: [String] {
    effects.compactMap { if case .find(let text, _) = $0 { text } else { nil } }
  }

  fileprivate var fetched: [String] {
    effects.compactMap { if case .fetchOlder(let room) = $0 { room } else { nil } }
  }

  fileprivate var sought: [Chat.Place] {
    effects.compactMap { if case .seek(_, let place) = $0 { place } else { nil } }
  }

  /// The archive's answer.
  fileprivate mutating func find(
    _ seqs: [Int64], _ text: String = "needle", in room: String = room, isComplete: Bool = true,
    unindexed: Int64 = 0, older: [Chat.Beginning] = []
  ) {
    let entries = seqs.map { seq in
      Self.entry(seq, "bo", .init(room: room, id: "bo-\(seq)", text: "the \(text) \(seq)"), at: now)
    }
    take(
      .found(
        .init(
          text: text, entries: entries, isComplete: isComplete, unindexed: unindexed, older: older))
    )
  }

  fileprivate mutating func older(_ room: String) {
    see(.history(.init(room: room, entries: [], first: 1, head: 1, more: true, epoch: "e")))
  }

  fileprivate func page(_ seqs: ClosedRange<Int64>) -> [Entry] {
    seqs.map {
      Self.entry(
        $0, "bo", .init(room: Harness.room, id: "bo-\($0)", text: "entry \($0)"), at: now)
    }
  }

  fileprivate mutating func look(_ text: String = "needle") {
    press(findKey)
    type(text)
  }

  fileprivate var shown: String { picture(chat.draw(.dark())) }
}

@Suite struct `A search of all conversations` {
  @Test func `asks for each text that is typed, and shows what its answer has`() throws {
    var harness = Harness.talking(head: 3)
    harness.look("need")
    #expect(harness.searched == ["n", "ne", "nee", "need"])
    // Those of an earlier text come too late.
    harness.find([1], "nee")
    #expect(harness.chat.find?.matches.isEmpty == true)
    harness.find([3, 1], "need")
    #expect(harness.chat.find?.matches.map(\.seq) == [3, 1])
    #expect(harness.shown.contains("the need 3"))
    #expect(harness.shown.contains("2 messages · everything was searched"))
  }

  @Test func `goes to the chosen message, in a conversation that is opened for it`() {
    var harness = Harness.talking(head: 3)
    harness.look()
    harness.find([900, 20], in: "tea")
    harness.press(Key(.down), Key(.enter))
    #expect(harness.chat.overlay == nil)
    #expect(harness.chat.timeline?.room == "tea")
    #expect(harness.sought == [.message(20)])
  }

  @Test func `does not load what is there already`() {
    var harness = Harness.talking(head: 3)
    harness.entry(4, "the needle 4")
    harness.look()
    harness.find([4])
    harness.press(Key(.enter))
    #expect(harness.sought.isEmpty)
    #expect(harness.chat.timeline?.selected?.id == "bo-4")
  }

  @Test func `takes over the text of a search in the conversation`() {
    var harness = Harness.talking(head: 3)
    harness.press(Key(.character("f"), .control))
    harness.type("needle")
    harness.press(findKey)
    #expect(harness.chat.find?.query.text == "needle")
    #expect(harness.searched == ["needle"])
  }

  @Test func `is begun by a command, and looks for more matches at the end of the list`() {
    var harness = Harness.talking(head: 3)
    harness.type("/searchall needle")
    harness.press(Key(.enter))
    #expect(harness.searched == ["needle"])
    harness.find((1...100).map { 200 - $0 })
    for _ in 0..<99 { harness.press(Key(.down)) }
    #expect(harness.effects.contains(.find("needle", wanted: 200)))
    let chosen = harness.chat.find?.selected
    harness.find((1...150).map { 200 - $0 })
    #expect(harness.chat.find?.selected == chosen)
    #expect(harness.chat.find?.matches.count == 150)
  }

  @Test func `says what was not searched, and searches that when it is indexed`() {
    var harness = Harness.talking(head: 3)
    harness.look()
    harness.find([], unindexed: 7000)
    #expect(harness.shown.contains("7000 older ones are still being indexed"))
    let count = harness.searched.count
    harness.now += 1000
    harness.take(.tick)
    #expect(harness.searched.count == count + 1)
    harness.find([5])
    harness.now += 5000
    harness.take(.tick)
    #expect(harness.searched.count == count + 1)
    // What arrives meanwhile is searched as well.
    harness.entry(6, "another needle")
    #expect(harness.searched.count == count + 1)
    harness.now += 1000
    harness.take(.tick)
    #expect(harness.searched.count == count + 2)
  }

  @Test func `goes on at the relay, page by page, with the room of the newest gap`() {
    var harness = Harness.talking(head: 3)
    let older: [Chat.Beginning] = [
      .init(room: "tea", at: harness.now - 9_000_000), .init(room: "general", at: harness.now - 10),
    ]
    harness.look()
    harness.find([3], older: older)
    #expect(harness.fetched.isEmpty)
    #expect(harness.shown.contains("older ones are at the relay"))
    harness.press(Key(.down), Key(.enter))
    #expect(harness.fetched == ["general"])
    // Again before the answer asks for nothing more.
    harness.press(Key(.enter))
    harness.now += 1000
    harness.older("general")
    harness.find([3], older: Array(older.prefix(1)))
    #expect(harness.fetched == ["general", "tea"])
    harness.now += 1000
    harness.older("tea")
    harness.find([3, 1], older: Array(older.prefix(1)))
    // There is a match.
    #expect(harness.fetched.count == 2)
    #expect(harness.chat.find?.selected == 1)
    #expect(harness.chat.find?.pagesLeft == nil)
  }

  @Test func `ends at the relay after a number of pages, and within its budget`() {
    var harness = Harness.talking(head: 3)
    harness.chat.requestsPerSecond = 50
    let older: [Chat.Beginning] = [.init(room: "tea", at: 5)]
    harness.look()
    harness.find([], older: older)
    harness.press(Key(.enter))
    var pages = 0
    while harness.fetched.count > pages, pages < 100 {
      pages = harness.fetched.count
      harness.older("tea")
      harness.find([], older: older)
      if harness.chat.find?.pagesLeft != nil, harness.fetched.count == pages,
        let deadline = harness.chat.deadline
      {
        // The next page waits for its time.
        #expect(deadline - harness.now <= 80)
        harness.now = deadline
        harness.take(.tick)
      }
    }
    #expect(pages == 20)
    #expect(harness.chat.find?.pagesLeft == nil)
    harness.press(Key(.enter))
    harness.now += 100
    harness.take(.tick)
    #expect(harness.fetched.count == 21)
  }

  @Test func `at the relay ends without a connection, and begins anew with it`() {
    var harness = Harness.talking(head: 3)
    harness.look()
    harness.find([], older: [.init(room: "tea", at: 5)])
    harness.press(Key(.enter))
    harness.lose()
    #expect(harness.chat.find?.pagesLeft == nil)
    #expect(harness.shown.contains("not connected"))
    harness.press(Key(.enter))
    #expect(harness.fetched.count == 1)
    harness.welcome()
    harness.now += 1000
    harness.press(Key(.enter))
    #expect(harness.fetched.count == 2)
  }

  @Test func `a text without a word finds nothing, and asks nothing of the relay`() {
    var harness = Harness.talking(head: 3)
    harness.look("\"*")
    harness.find([], "\"*", older: [.init(room: "tea", at: 5)])
    harness.press(Key(.enter))
    #expect(harness.fetched.isEmpty)
    #expect(harness.chat.find != nil)
  }

  @Test func `a match is shown where it is in a long text`() {
    let text =
      String(repeating: "hay ", count: 500) + "Nädel " + String(repeating: "hay ", count: 9)
    let pieces = Chat.excerpt(text, SearchQuery("nadel"), columns: 40)
    #expect(pieces.contains { $0.isFound && $0.text == "Nädel" })
    #expect((pieces.first?.text.count ?? 0) < 40)
    #expect(pieces.first?.text.hasPrefix("…") == true)
    #expect(
      Chat.excerpt("a needle, needles", SearchQuery("need"), columns: 40).map(\.isFound)
        == [false, true, false, true, false])
  }

  @Test(arguments: [
    Size(columns: 20, rows: 5), Size(columns: 60, rows: 9), Size(columns: 1, rows: 1),
  ])
  func `fits any screen`(size: Size) {
    var harness = Harness.talking(head: 3)
    harness.look()
    harness.find([3, 2, 1], older: [.init(room: "tea", at: .max)])
    harness.take(.resized(size))
    for _ in 0..<5 {
      harness.press(Key(.down))
      #expect(harness.chat.draw(.dark()).grid.size == size)
    }
  }
}

@Suite struct `A place in a conversation` {
  private func loaded(
    _ harness: inout Harness, _ place: Chat.Place, seq: Int64, isNewest: Bool = false
  ) {
    harness.take(
      .sought(
        room: Harness.room, place,
        .page(
          seq: seq, harness.page(max(1, seq - 50)...seq + 49), isComplete: seq <= 50,
          isNewest: isNewest)))
  }

  @Test func `is selected in the middle of those around it, and newer ones load below`() {
    var harness = Harness.talking(head: 1000)
    harness.type("/goto yesterday")
    harness.press(Key(.enter))
    #expect(harness.chat.composer.isEmpty)
    guard case .time(let time)? = harness.sought.first else { return #expect(Bool(false)) }
    loaded(&harness, .time(time), seq: 300)
    #expect(harness.chat.timeline?.selected?.id == "bo-300")
    let rows = harness.shown.split(separator: "\n").map(String.init)
    let row = rows.firstIndex { $0.contains("entry 300") }
    #expect(row.map { 5..<25 ~= $0 } == true)
    // Down to the end of what is loaded, and beyond.
    for _ in 0..<60 { harness.press(Key(.down)) }
    #expect(harness.effects.contains(.loadNewer(room: Harness.room, after: 349)))
    harness.take(
      .newer(room: Harness.room, after: 349, harness.page(350...449), isNewest: false))
    #expect(harness.texts.count == 200)
    #expect(harness.chat.timeline?.selected?.id == "bo-349")
    harness.press(Key(.down))
    #expect(harness.chat.timeline?.selected?.id == "bo-350")
    // A page that was asked for twice is not there twice.
    harness.take(
      .newer(room: Harness.room, after: 349, harness.page(350...449), isNewest: false))
    #expect(harness.texts.count == 200)
    // What arrives meanwhile is not put after a gap.
    harness.entry(1001, "newest")
    #expect(harness.texts.last == "entry 449")
    #expect(harness.chat.conversations[Harness.room]?.read == 1000)
    harness.press(Key(.end, .control))
    #expect(
      harness.effects.last == .load(room: Harness.room, before: nil)
        || harness.effects.contains(.load(room: Harness.room, before: nil)))
  }

  @Test func `at the end of the conversation joins it again`() {
    var harness = Harness.talking(head: 1000)
    harness.type("/goto 2025-11-01")
    harness.press(Key(.enter))
    guard let place = harness.sought.first else { return #expect(Bool(false)) }
    loaded(&harness, place, seq: 951)
    for _ in 0..<100 { harness.press(Key(.pageDown)) }
    #expect(harness.effects.contains(.loadNewer(room: Harness.room, after: 1000)))
    harness.take(.newer(room: Harness.room, after: 1000, [], isNewest: true))
    #expect(harness.chat.timeline?.scroll == .newest)
    harness.entry(1001, "newest")
    #expect(harness.texts.last == "newest")
  }

  @Test func `that is older than what is here comes from the relay, page by page`() {
    var harness = Harness.talking(head: 1000)
    harness.chat.goToFirstUnread(&harness.effects)
    #expect(harness.sought == [.unread(after: 1000)])
    for count in 1...3 {
      harness.now += 1000
      harness.take(.sought(room: Harness.room, .unread(after: 1000), .older(oldest: 400)))
      #expect(harness.fetched.count == count)
      harness.older(Harness.room)
      #expect(harness.sought.count == count + 1)
    }
    loaded(&harness, .unread(after: 1000), seq: 300)
    #expect(harness.chat.timeline?.selected?.id == "bo-300")
  }

  @Test func `that the relay does not give is as near as possible`() {
    var harness = Harness.talking(head: 1000)
    harness.type("/goto 2020-01-01")
    harness.press(Key(.enter))
    harness.lose()
    guard let place = harness.sought.first else { return #expect(Bool(false)) }
    harness.take(.sought(room: Harness.room, place, .older(oldest: 400)))
    #expect(harness.sought.last == .message(400))
    #expect(harness.chat.notice?.text.contains("do not go back that far") == true)
  }

  @Test func `is not gone to after another conversation was opened`() {
    var harness = Harness.talking(head: 1000)
    harness.chat.goToFirstUnread(&harness.effects)
    harness.open("tea")
    loaded(&harness, .unread(after: 1000), seq: 300)
    #expect(harness.texts.isEmpty)
    harness.older(Harness.room)
    #expect(harness.sought.count == 1)
  }

  @Test func `may be a mention, seen from the selected message`() {
    var harness = Harness.talking(head: 1000)
    harness.press(Key(.character(","), .alt))
    #expect(harness.sought == [.previousMention(before: .max)])
    loaded(&harness, .previousMention(before: .max), seq: 300)
    harness.press(Key(.character(","), .alt))
    harness.press(Key(.character("."), .alt))
    #expect(harness.sought.suffix(2) == [.previousMention(before: 300), .nextMention(after: 300)])
    harness.take(.sought(room: Harness.room, .nextMention(after: 300), .nothing))
    #expect(harness.chat.notice?.text == "No newer message mentions you.")
    #expect(harness.chat.timeline?.selected?.id == "bo-300")
    harness.type("/nextmention")
    harness.press(Key(.enter))
    #expect(harness.sought.count == 4)
  }

  @Test func `a date is asked for by a key, and stays until it is one`() {
    var harness = Harness.talking(head: 1000)
    harness.press(Key(.character("g"), .alt))
    harness.type("14:0")
    #expect(harness.shown.contains(DateText.examples.prefix(20)))
    harness.press(Key(.enter))
    #expect(harness.chat.notice?.isError == true)
    #expect(harness.chat.overlay == .date(LineEditor("14:0")))
    harness.type("2")
    harness.press(Key(.enter))
    #expect(harness.sought.count == 1)
    #expect(harness.chat.overlay == nil)
  }

  @Test(arguments: ["/goto", "/goto the moon"])
  func `that is no date is explained, and stays in the composer`(text: String) {
    var harness = Harness.talking(head: 1000)
    harness.type(text)
    harness.press(Key(.enter))
    #expect(harness.chat.notice?.isError == true)
    #expect(harness.chat.composer.text == text)
    #expect(harness.sent.isEmpty)
  }
}
