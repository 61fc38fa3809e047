import Messenger
import Terminal
import Testing

@Suite struct `A chat` {
  @Test func `nothing is open before something is chosen`() {
    let chat = Chat(
      settings: Settings(), size: Size(columns: 80, rows: 24), now: 0, relay: "ws://localhost",
      user: "ada"
    ) { _ in LocalTime(year: 1970, month: 1, day: 1, hour: 0, minute: 0, weekday: 4) }
    #expect(chat.open == nil)
  }
}
