import Messenger
import Terminal
import Testing

/// The screen, as pictures in its characters. A failing test prints what was drawn.
@Suite struct `The screen` {
  private func expect(
    _ chat: Chat, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let drawn = picture(chat.draw(.dark()))
    #expect(drawn == expected, "drawn:\n\(drawn)", sourceLocation: sourceLocation)
  }

  @Test func `at 80×24 has the list beside the conversation`() {
    let chat = Sample.busy(80, 24)
    expect(
      chat,
      """
       Ada Lovelace  3 unread │ ● Grace Hopper  online                        ● 12 ms
      ▎● GH Grace Hopp… 12:38 │
      ▎     ✓✓ It is a moth!  │
         #  General     12:10 │
            Bo: lunch?     3  │
       ◐ B  Bo   🔕 Yesterday │                           ⋯
            typing…       12  │ ───────────────────── Yesterday ─────────────────────
       ○ E  Echo bot      Mon │ ▐ Good morning! Is the machine running again? ▌
            deleted           │ ▐                                       11:40 ▌
                              │
                              │                            ▐ Since seven.  11:50 ✓✓ ▌
                              │
                              │ ─────────────────────── Today ───────────────────────
                              │ ▐ Something is in relay 70 of panel F.  12:20 ▌
                              │
                              │ ──────────────────────── New ────────────────────────
                              │ ▐ See https://example.org/log for the page.  12:21 ▌
                              │
                              │           ▐ ┃ Grace Hopper Something is in relay 70 ▌
                              │           ▐ It is a moth!                  12:38 ✓✓ ▌
                              │                                          👍 1  🎉 2
                              │───────────────────────────────────────────────────────
                              │› Message Grace Hopper
       Enter send  Alt+Enter new line  Ctrl+K switch  F1 help  Ctrl+C quit
      """)
  }

  @Test func `of a room shows senders and the state of each message`() {
    let chat = Sample.room(100, 40)
    expect(
      chat,
      """
       Ada Lovelace      3 unread │ # General  3 members                                          ● 12 ms
       ● GH Grace Hopper    12:38 │
            ✓✓ It is a moth!      │
      ▎  #  General         12:10 │
      ▎     Bo: lunch?         3  │
       ◐ B  Bo       🔕 Yesterday │
            typing…           12  │
       ○ E  Echo bot          Mon │
            deleted               │
                                  │
                                  │
                                  │
                                  │
                                  │
                                  │                     the conversation begins here
                                  │ ────────────────────────── Mon 17 Nov 2025 ──────────────────────────
                                  │ ▐ Bo                    ▌
                                  │ ▐ Who was first?  12:40 ▌
                                  │
                                  │ ─────────────────────────────── Today ───────────────────────────────
                                  │ ▐ Grace Hopper     ▌
                                  │ ▐ first            ▌
                                  │ ▐   second, set in ▌
                                  │ ▐ third      11:50 ▌
                                  │ ▐ And the same person again.  edited 11:51 ▌
                                  │
                                  │                                 ▐ 東京の天気は晴れです 👩‍👩‍👧‍👦  12:00 ✓✓ ▌
                                  │
                                  │ ▐ Bo             ▌
                                  │ ▐ deleted  12:10 ▌
                                  │ ▐ ↪ forwarded from Echo                        ▌
                                  │ ▐ see you at https://example.org/a?b=c.  12:11 ▌
                                  │   👀 2
                                  │
                                  │                                       ▐ too long, it seems  12:37 ! ▌
                                  │                           ! refused: too long · R retry · x discard
                                  │                                         ▐ still on its way  12:40 … ▌
                                  │───────────────────────────────────────────────────────────────────────
                                  │› Message General
       Enter send  Alt+Enter new line  Ctrl+K switch  F1 help  Ctrl+C quit  Ctrl+F search
      """)
  }

  @Test func `at 60×20 has the conversation alone`() {
    let chat = Sample.busy(60, 20)
    expect(
      chat,
      """
       ● Grace Hopper  online                   3 unread  ● 12 ms
                                   ⋯
       ─────────────────────── Yesterday ────────────────────────
       ▐ Good morning! Is the machine running again? ▌
       ▐                                       11:40 ▌

                                       ▐ Since seven.  11:50 ✓✓ ▌

       ───────────────────────── Today ──────────────────────────
       ▐ Something is in relay 70 of panel F.  12:20 ▌

       ────────────────────────── New ───────────────────────────
       ▐ See https://example.org/log for the page.  12:21 ▌

                      ▐ ┃ Grace Hopper Something is in relay 70 ▌
                      ▐ It is a moth!                  12:38 ✓✓ ▌
                                                     👍 1  🎉 2
      ────────────────────────────────────────────────────────────
      › Message Grace Hopper
       Enter send  Alt+Enter new line  Ctrl+K switch  F1 help
      """)
  }

  @Test func `at 60×20 has the list alone, with the time left of a limit and of a reconnection`() {
    var chat = Sample.busy(60, 20)
    chat.pane = .list
    chat.directory = .limited(until: Sample.now + 42_000)
    chat.isFiltering = true
    chat.connection = .waiting(until: Sample.now + 2_500, reason: "connection refused")
    expect(
      chat,
      """
       Ada Lovelace               3 unread  ↻ reconnecting in 3 s
      / filter
      ▎● GH Grace Hopper                                    12:38
      ▎     ✓✓ It is a moth!
         #  General                                         12:10
            Bo: lunch?                                         3
       ◐ B  Bo                                       🔕 Yesterday
            typing…                                           12
       ○ E  Echo bot                                          Mon
            deleted








       rate-limited, retrying in 0:42
       ↻ connection refused  (Alt+R: now)
      """)
  }

  @Test func `at 20×6 is still usable`() {
    let chat = Sample.busy(20, 6)
    expect(
      chat,
      """
       Grace Hopper     ●
       ▐It is a moth!   ▌
       ▐        12:38 ✓✓▌
              👍 1  🎉 2
      › Message Grace Hop…
       Enter send
      """)
  }

  @Test func `shows that it is loading before there is anything`() {
    var chat = Sample.chat(80, 12)
    chat.directory = .loading
    chat.connection = .connecting
    expect(
      chat,
      """
       ada                    │                                         ◌ connecting…
                              │
                              │
                              │
                              │          Choose a conversation on the left.
          ⋯ loading people    │               Ctrl+K finds one by name.
                              │
                              │
                              │
                              │───────────────────────────────────────────────────────
       ⋯ loading people       │  choose a conversation
       Enter open  / filter  Alt+M mute  Ctrl+K switch  ? help  Ctrl+C quit
      """)
  }

  @Test func `shows why it is offline, and that there are no messages yet`() {
    var chat = Sample.busy(80, 12)
    chat.timeline?.messages = []
    chat.connection = .ended("access denied: the token has expired")
    expect(
      chat,
      """
       Ada Lovelace  3 unread │ ● Grace Hopper  online                      ✕ offline
      ▎● GH Grace Hopper      │
         #  General        3  │
       ◐ B  Bo        🔕  12  │
       ○ E  Echo bot          │                   No messages yet.
                              │              Say hello to Grace Hopper.
                              │
                              │
                              │
                              │───────────────────────────────────────────────────────
                              │› Message Grace Hopper
       ✕ access denied: the token has expired
      """)
  }
}
