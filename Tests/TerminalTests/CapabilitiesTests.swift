import Terminal
import Testing

@Suite struct `What a terminal can do` {
  @Test(arguments: [
    (["TERM": "xterm"], ColorDepth.colors16), (["TERM": "xterm-256color"], .colors256),
    (["TERM": "xterm-256color", "COLORTERM": "truecolor"], .trueColor),
    (["TERM": "xterm-kitty"], .trueColor), (["TERM": "linux"], .colors16),
    (["TERM": "vt100"], .none),
    (["TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"], .colors256),
    (["TERM": "screen-256color", "COLORTERM": "truecolor"], .colors256),
    (["TERM": "screen-256color", "COLORTERM": "truecolor", "TMUX": "/x"], .trueColor),
    (["TERM": "xterm-kitty", "NO_COLOR": "1"], .none),
    (["TERM": "xterm", "NO_COLOR": ""], .colors16),
    (["TERM": "dumb", "COLORTERM": "truecolor"], .none), ([:], .none),
  ])
  func `colours`(environment: [String: String], depth: ColorDepth) {
    #expect(Capabilities(environment: environment).depth == depth)
  }

  @Test func `no screen is drawn on a dumb terminal, or on none`() {
    for (terminal, isFullScreen) in [
      ("dumb", false), ("", false), ("xterm", true), ("linux", true),
    ] {
      #expect(Capabilities(environment: ["TERM": terminal]).isFullScreen == isFullScreen)
    }
    #expect(!Capabilities(environment: [:]).isFullScreen)
  }

  @Test(arguments: [
    ("15;0", true), ("0;15", false), ("0;default;15", false), ("12;8", true), ("0;7", false),
    ("x", nil), ("15;default", nil), ("0;16", nil), ("", nil),
  ])
  func `dark or light, from COLORFGBG`(value: String, isDark: Bool?) {
    #expect(Capabilities(environment: ["TERM": "rxvt", "COLORFGBG": value]).isDark == isDark)
  }

  @Test func `the terminal's own replies take precedence`() {
    var capabilities = Capabilities(environment: ["TERM": "xterm", "COLORFGBG": "15;0"])
    #expect(capabilities.isDark == true)
    #expect(!capabilities.synchronizesOutput)
    #expect(!capabilities.hasKittyKeyboard)
    for reply: TerminalReply in [
      .background(red: 1, green: 1, blue: 0.9), .mode(2026, isKnown: true), .keyboard(flags: 0),
      .mode(25, isKnown: false), .attributes(hasSixel: false),
    ] {
      capabilities.refine(with: reply)
    }
    #expect(capabilities.isDark == false)
    #expect(capabilities.synchronizesOutput)
    #expect(capabilities.hasKittyKeyboard)
    capabilities.refine(with: .background(red: 0.1, green: 0.1, blue: 0.4))
    #expect(capabilities.isDark == true)
  }

  @Test(arguments: [
    (["TERM": "xterm-kitty"], Capabilities.NotificationForm.osc99),
    (["TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"], .osc9),
    (["TERM": "xterm-ghostty"], .osc9), (["TERM": "foot"], .osc777),
    (["TERM": "rxvt-unicode-256color"], .osc777), (["TERM": "xterm-256color"], nil),
    (["TERM": "tmux-256color", "TMUX": "/x", "KITTY_WINDOW_ID": "1"], nil),
  ])
  func `notifications`(
    environment: [String: String], form: Capabilities.NotificationForm?
  ) {
    #expect(Capabilities(environment: environment).notificationForm == form)
  }

  @Test(arguments: [
    (Color.rgb(255, 0, 0), Color.palette(196), Color.palette(9)),
    (.rgb(0, 0, 0), .palette(16), .palette(0)), (.rgb(128, 128, 128), .palette(244), .palette(8)),
    (.palette(196), .palette(196), .palette(9)), (.palette(232), .palette(232), .palette(0)),
    (.palette(3), .palette(3), .palette(3)), (.standard, .standard, .standard),
  ])
  func `a colour is lowered to the nearest`(color: Color, of256: Color, of16: Color) {
    #expect(color.lowered(to: .trueColor) == color)
    #expect(color.lowered(to: .colors256) == of256)
    #expect(color.lowered(to: .colors16) == of16)
    #expect(color.lowered(to: .none) == .standard)
  }
}
