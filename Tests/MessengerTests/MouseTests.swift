import Client
import Messenger
import Terminal
import Testing
import Wire

@Suite struct `The mouse` {
  private func click(_ harness: inout Harness, _ position: Position) {
    harness.take(.input(.mouse(Mouse(.press, .left, at: position))))
  }

  private func place(_ harness: Harness, _ wanted: Drawing.Target) throws -> Position {
    let target = try #require(
      harness.chat.draw(.plain).targets.last { $0.1 == wanted }, "nothing to click on")
    return Position(column: target.0.column + 1, row: target.0.row)
  }

  @Test func `opens no menu for a message without possible actions`() throws {
    var harness = Harness.talking()
    harness.entry(1, "gone")
    harness.entry(2, .init(room: Harness.room, id: "d", delete: 1))
    let message = try place(harness, .message(.init(from: "bo", id: "bo-1")))
    click(&harness, message)
    click(&harness, message)
    #expect(harness.chat.overlay == nil)
  }

  @Test func `closes a menu when it clicks beside it, and does nothing else`() throws {
    var harness = Harness.talking()
    harness.entry(1, "first")
    harness.entry(2, "second")
    let first = try place(harness, .message(.init(from: "bo", id: "bo-1")))
    let second = try place(harness, .message(.init(from: "bo", id: "bo-2")))
    click(&harness, second)
    click(&harness, second)
    #expect(harness.chat.overlay == .actions(selected: 0))
    click(&harness, first)
    #expect(harness.chat.overlay == nil)
    #expect(harness.chat.timeline?.selected?.id == "bo-2")
  }

  @Test func `scrolls the list beyond the selection`() {
    var harness = Harness.talking()
    for number in 0..<60 { harness.open("room-\(number)") }
    harness.chat.prepareToDraw()
    harness.chat.prepareToDraw()
    #expect(harness.chat.listTop >= 0)
    let top = harness.chat.listTop
    let wheel: Mouse.Action = top > 10 ? .wheelUp : .wheelDown
    for _ in 0..<4 {
      harness.take(.input(.mouse(Mouse(wheel, .none, at: Position(column: 3, row: 8)))))
      harness.chat.prepareToDraw()
    }
    #expect(abs(harness.chat.listTop - top) == 12)
    harness.press(Key(.down, [.alt]))
    harness.chat.prepareToDraw()
    #expect(abs(harness.chat.listTop - top) < 12)
  }

  @Test func `chooses among the completions`() throws {
    var harness = Harness.talking()
    harness.type(":smi")
    harness.press(Key(.tab))
    let count = try #require(harness.chat.completion?.candidates.count)
    #expect(count > 1)
    click(&harness, try place(harness, .choice(1)))
    #expect(harness.chat.completion == nil)
    #expect(!harness.chat.composer.text.contains(":smi"))
  }
}
