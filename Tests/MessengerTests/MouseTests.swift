import Client
import Messenger
import Terminal
import Testing
import Wire

@Suite struct `The mouse` {
  private func click(_ desk: inout Desk, _ position: Position) {
    desk.take(.input(.mouse(Mouse(.press, .left, at: position))))
  }

  private func place(_ desk: Desk, _ wanted: Drawing.Target) throws -> Position {
    let target = try #require(
      desk.chat.draw(.plain).targets.last { $0.1 == wanted }, "nothing to click on")
    return Position(column: target.0.column + 1, row: target.0.row)
  }

  @Test func `opens no menu of a message that nothing can be done with`() throws {
    var desk = Desk.talking()
    desk.entry(1, "gone")
    desk.entry(2, .init(room: Desk.room, id: "d", delete: 1))
    let message = try place(desk, .message(.init(from: "bo", id: "bo-1")))
    click(&desk, message)
    click(&desk, message)
    #expect(desk.chat.overlay == nil)
  }

  @Test func `beside a menu puts it away, and does nothing else`() throws {
    var desk = Desk.talking()
    desk.entry(1, "first")
    desk.entry(2, "second")
    let first = try place(desk, .message(.init(from: "bo", id: "bo-1")))
    let second = try place(desk, .message(.init(from: "bo", id: "bo-2")))
    click(&desk, second)
    click(&desk, second)
    #expect(desk.chat.overlay == .actions(selected: 0))
    click(&desk, first)
    #expect(desk.chat.overlay == nil)
    #expect(desk.chat.timeline?.selected?.id == "bo-2")
  }

  @Test func `scrolls the list beyond what is selected`() {
    var desk = Desk.talking()
    for number in 0..<60 { desk.open("room-\(number)") }
    desk.chat.settle()
    desk.chat.settle()
    #expect(desk.chat.listTop >= 0)
    let top = desk.chat.listTop
    let wheel: Mouse.Action = top > 10 ? .wheelUp : .wheelDown
    for _ in 0..<4 {
      desk.take(.input(.mouse(Mouse(wheel, .none, at: Position(column: 3, row: 8)))))
      desk.chat.settle()
    }
    #expect(abs(desk.chat.listTop - top) == 12)
    desk.press(Key(.down, [.alt]))
    desk.chat.settle()
    #expect(abs(desk.chat.listTop - top) < 12)
  }

  @Test func `chooses what Tab offers`() throws {
    var desk = Desk.talking()
    desk.type(":smi")
    desk.press(Key(.tab))
    let count = try #require(desk.chat.completion?.candidates.count)
    #expect(count > 1)
    click(&desk, try place(desk, .choice(1)))
    #expect(desk.chat.completion == nil)
    #expect(!desk.chat.composer.text.contains(":smi"))
  }
}
