import Mixing
import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `The sections of the list` {
  private func room(
    _ room: String, head: Int64 = 0, read: Int64 = 0, listed: Bool = false, peer: String? = nil,
    at: Int64 = 1
  ) -> ServerMessage.RoomSummary {
    let last = Harness.entry(head, "cy", .init(room: room, id: "l\(head)", text: "hi"), at: at)
    return .init(
      room: room, title: room, head: head, read: read, unread: 0, listed: listed, peer: peer,
      last: head > 0 ? last : nil)
  }

  private func people(_ count: Int) -> ServerMessage.PeoplePage {
    .init(
      people: (0..<count).map { number in
        let user = "u\(number)"
        return .init(
          user: user, name: "User \(number)", avatar: nil, presence: .online, lastSeen: nil,
          isBot: false, room: RoomName.direct("ada", user))
      }, next: nil, source: "local", asOf: 1)
  }

  private func drawn(_ harness: inout Harness) -> [String] {
    harness.chat.prepareToDraw()
    return picture(harness.chat.draw(.dark()))
      .split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0.prefix { $0 != "│" }) }
  }

  @Test func `a room that one is in and a person one has written with stand above all others`() {
    var harness = Harness()
    harness.welcome()
    harness.see(
      .rooms(
        [
          room("busy", head: 90, listed: true, at: 99),
          room("team", head: 5, at: 10),
          room("dm:ada:u3", head: 2, peer: "u3", at: 5),
        ], next: nil))
    harness.see(.people(people(6)))
    harness.chat.prepareToDraw()
    #expect(harness.chat.listed.prefix(3) == ["team", "dm:ada:u3", "busy"])
    #expect(harness.chat.headings == [2: .rooms, 3: .people])
    let list = drawn(&harness)
    #expect(list.contains { $0.contains("Other rooms") })
    #expect(list.contains { $0.contains("People") && $0.contains("Ctrl+K finds") })
  }

  @Test func `with 2,000 people a newcomer sees the room, and how to find a person`() {
    var harness = Harness(size: Size(columns: 80, rows: 24))
    harness.welcome()
    harness.see(.rooms([room("general", listed: true)], next: nil))
    harness.see(.people(people(2000)))
    let list = drawn(&harness)
    #expect(list[1].hasPrefix(" Rooms"))
    #expect(list[2].contains("#  general"))
    #expect(list[4].contains("People") && list[4].contains("Ctrl+K finds"))
    #expect(list[5].contains("User 0"))
  }

  @Test func `a person whose empty conversation is open stays among the people`() {
    var harness = Harness()
    harness.welcome()
    harness.see(.people(people(3)))
    harness.open("dm:ada:u1")
    harness.joined("dm:ada:u1")
    harness.chat.prepareToDraw()
    #expect(harness.chat.headings == [0: .people])
    harness.entry(1, from: "u1", "hello", in: "dm:ada:u1")
    harness.chat.prepareToDraw()
    #expect(harness.chat.listed.first == "dm:ada:u1")
    #expect(harness.chat.headings == [1: .people])
  }

  @Test func `have no headings in a filtered list`() {
    var harness = Harness()
    harness.welcome()
    harness.see(.people(people(3)))
    harness.press(Key(.tab, .shift))
    harness.type("/user")
    harness.chat.prepareToDraw()
    #expect(harness.chat.listed.count == 3)
    #expect(harness.chat.headings.isEmpty)
  }

  /// Each row is drawn where the mouse finds it, whichever is selected and whatever is above it.
  @Test(arguments: [Size(columns: 80, rows: 24), Size(columns: 80, rows: 12)])
  func `scroll so that the selection is visible`(size: Size) throws {
    var harness = Harness(size: size)
    harness.welcome()
    harness.see(.rooms([room("general", listed: true), room("team", head: 5)], next: nil))
    harness.see(.people(people(40)))
    harness.press(Key(.tab, .shift), Key(.home))
    for _ in 0..<50 {
      harness.chat.prepareToDraw()
      let chosen = try #require(harness.chat.listSelection)
      let drawing = harness.chat.draw(.dark())
      let title = try #require(harness.chat.conversations[chosen]?.title)
      let place = try #require(
        drawing.targets.first { if case .conversation(chosen) = $0.1 { true } else { false } }?.0)
      let lines = picture(drawing).split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines[place.row].contains(title))
      harness.press(Key(.down))
    }
    #expect(harness.chat.listSelection == harness.chat.listed.last)
    for _ in 0..<50 { harness.press(Key(.up)) }
    harness.chat.prepareToDraw()
    #expect(harness.chat.listTop == 0)
  }

  /// Whatever the size was before, the selected row is whole, with its heading if it is the first,
  /// and no row that fits is missing above or below.
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `show the whole selected row after a resize`(seed: UInt64) throws {
    var dice = SplitMix64(seed: seed)
    var harness = Harness(size: Size(columns: 80, rows: 24))
    harness.welcome()
    harness.see(
      .rooms(
        [room("general", listed: true), room("team", head: 5), room("tea", head: 4)], next: nil))
    harness.see(.people(people(Int.random(in: 0...40, using: &dice))))
    harness.press(Key(.tab, .shift))
    for _ in 0..<100 {
      switch Int.random(in: 0..<5, using: &dice) {
      case 0: harness.press(Key(.up))
      case 1: harness.press(Key(.down))
      case 2: harness.press(Key(Bool.random(using: &dice) ? .home : .end))
      case 3:
        let wheel: Mouse.Action = Bool.random(using: &dice) ? .wheelUp : .wheelDown
        harness.take(.input(.mouse(Mouse(wheel, .none, at: Position(column: 3, row: 5)))))
      default: break
      }
      let sizes = [(40, 12), (80, 24), (40, 24), (80, 12), (160, 48), (40, 13), (69, 16)]
      let size = try #require(sizes.randomElement(using: &dice))
      harness.take(.resized(Size(columns: size.0, rows: size.1)))
      harness.chat.prepareToDraw()
      let drawing = harness.chat.draw(.plain)
      let rows = drawing.targets.compactMap {
        if case .conversation(let room) = $0.target { (room: room, rect: $0.rect) } else { nil }
      }
      let pane = harness.chat.layout.listRows
      let chosen = try #require(harness.chat.listSelection)
      let place = rows.firstIndex { $0.room == chosen }
      #expect(place != nil, "\(size), \(chosen):\n\(picture(drawing))")
      for row in rows {
        let title = try #require(harness.chat.conversations[row.room]?.title)
        #expect(drawing.grid.text(row: row.rect.row).contains(title))
        #expect(row.rect.row >= pane.row && row.rect.row + row.rect.rows <= pane.row + pane.rows)
      }
      let first = try #require(rows.first)
      let isFirst = first.room == harness.chat.listed.first
      if isFirst, harness.chat.layout.hasHeadings, harness.chat.headings[0] != nil {
        #expect(first.rect.row == pane.row + 1)
      }
      // Nothing is scrolled away while there is room for it.
      let last = try #require(rows.last)
      if last.room == harness.chat.listed.last, !isFirst {
        let left = pane.row + pane.rows - last.rect.row - last.rect.rows
        #expect(left < harness.chat.layout.rowHeight + 1)
      }
    }
  }

  @Test func `have one row for each conversation if the list is compact`() {
    var harness = Harness(size: Size(columns: 80, rows: 24))
    harness.welcome()
    harness.see(.people(people(40)))
    #expect(drawn(&harness).count { $0.contains("User") } == 10)
    harness.press(Key(.character("c"), .alt))
    #expect(drawn(&harness).count { $0.contains("User") } == 21)
    harness.press(Key(.character("c"), .alt))
    #expect(drawn(&harness).count { $0.contains("User") } == 10)
  }

  @Test func `are hidden and shown by a key, and while they have the keyboard`() {
    var harness = Harness.talking()
    harness.see(.rooms([room("team", head: 5)], next: nil))
    #expect(!harness.chat.layout.list.isEmpty)
    harness.press(Key(.character("s"), .alt))
    #expect(harness.chat.layout.list.isEmpty)
    #expect(harness.chat.layout.messages.columns == 100)
    harness.joined("team", head: 5)
    harness.entry(6, from: "cy", "news", in: "team")
    harness.chat.prepareToDraw()
    #expect(picture(harness.chat.draw(.dark())).split(separator: "\n")[0].contains("1 unread"))
    harness.press(Key(.tab, .shift))
    #expect(harness.chat.pane == .list)
    #expect(!harness.chat.layout.list.isEmpty)
    // Shown for a while, the key shows it for good; then it hides it, with the keyboard in it.
    harness.press(Key(.character("s"), .alt))
    #expect(harness.chat.pane == .list && harness.chat.settings.hasSidebar)
    harness.press(Key(.character("s"), .alt))
    #expect(harness.chat.pane == .composer)
    #expect(harness.chat.layout.list.isEmpty)
  }
}
