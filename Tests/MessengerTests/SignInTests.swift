import Client
import Messenger
import Platform
import Terminal
import Testing
import Wire

@Suite struct `Signing in again` {
  /// Ada talks with a login, and the relay ends her session.
  private func signedOut(columns: Int = 100, rows: Int = 30) -> Harness {
    var harness = Harness.talking()
    harness.chat.canSignIn = true
    harness.take(.resized(Size(columns: columns, rows: rows)))
    harness.type("a draft")
    harness.take(.client(.tokenWanted(refused: "This session was ended.")))
    harness.effects = []
    return harness
  }

  private func screen(_ harness: Harness, _ theme: Theme = .dark()) -> String {
    picture(harness.chat.draw(theme))
  }

  /// A code as a relay gives it.
  private func code(_ link: String = "https://chat.example.org/sign-in/device") throws -> DeviceCode
  {
    let rows = (0..<33).map { row in
      "\"" + String((0..<33).map { (row + $0) % 3 == 0 ? "1" : "0" }) + "\""
    }
    var login = DeviceLogin(relay: try RelayURL("wss://chat.example.org/ws"), device: "d")
    let now = Instant(nanoseconds: 1)
    for answer in [
      #"{"mode":"accounts"}"#,
      #"{"device_code":"x","user_code":"WDJB-MJHT","verification_uri":"\#(link)","expires_in":600,"#
        + #""qr":[\#(rows.joined(separator: ","))]}"#,
    ] {
      _ = login.next(at: now)
      login.take(.http(status: 200, body: Array(answer.utf8)), at: now)
    }
    guard case .waiting(let code, _) = login.state else {
      Issue.record("\(login.state)")
      throw DeviceLoginIsOver()
    }
    return code
  }

  private struct DeviceLoginIsOver: Error {}

  @Test func `the end of a session is said, with the key, and stays in the bar`() {
    var harness = signedOut()
    let text =
      "This device was signed out; Alt+L or /login signs in again. (This session was ended.)"
    #expect(harness.chat.notice?.text == text)
    #expect(harness.chat.connection == .ended(text))
    harness.now += 60_000
    harness.take(.tick)
    #expect(screen(harness).contains("! signed out"))
    #expect(screen(harness).contains("Alt+L or /login signs in again"))
    #expect(harness.chat.composer.text == "a draft")
  }

  @Test func `without a login the token is asked for as before`() {
    var harness = Harness.talking()
    harness.take(.client(.tokenWanted(refused: "expired")))
    #expect(harness.chat.conditions.isEmpty)
    harness.press(Key(.character("l"), .alt))
    #expect(harness.chat.overlay == nil && !harness.effects.contains(.signIn))
    #expect(harness.chat.notice?.text.contains("wschat login") == true)
  }

  @Test(arguments: ["key", "command", "reconnect"])
  func `is asked for by a key, by a command, and by the key that reconnects`(way: String) {
    var harness = signedOut()
    switch way {
    case "key": harness.press(Key(.character("l"), .alt))
    case "reconnect": harness.press(Key(.character("r"), .alt))
    default:
      harness.press(Key(.character("u"), .control))
      harness.type("/login")
      harness.press(Key(.enter))
    }
    #expect(harness.effects.contains(.signIn))
    #expect(!harness.effects.contains(.reconnect))
    #expect(harness.chat.overlay == .signIn)
    #expect(screen(harness).contains("Asking the relay for a code"))
  }

  @Test func `shows link, code and QR code, and goes on with the new token`() throws {
    var harness = signedOut()
    harness.press(Key(.character("l"), .alt))
    let code = try code()
    harness.take(.signIn(.code(code, problem: nil)))
    let text = screen(harness)
    #expect(text.contains("WDJB-MJHT"))
    #expect(text.contains("https://chat.example.org/"))
    #expect(text.contains("▀"))
    #expect(!text.contains("not the relay's"))
    harness.effects = []
    harness.take(.signedIn("ada"))
    #expect(harness.chat.overlay == nil && harness.chat.signIn == nil)
    #expect(harness.chat.conditions.isEmpty)
    #expect(harness.chat.connection == .connecting)
    // The driver's has ended by itself.
    #expect(!harness.effects.contains(.endSignIn))
    #expect(harness.chat.composer.text == "a draft")
    harness.welcome()
    #expect(harness.chat.notice?.text == "Signed in as ada.")
    harness.press(Key(.character("l"), .alt))
    #expect(harness.chat.overlay == nil)
    #expect(harness.chat.notice?.text == "You are signed in as ada.")
  }

  @Test(arguments: [
    (100, 30, true), (80, 24, true), (79, 24, true), (69, 24, false), (80, 20, false),
  ])
  func `the QR code is whole, or is left out`(columns: Int, rows: Int, isShown: Bool) throws {
    var harness = signedOut(columns: columns, rows: rows)
    harness.press(Key(.character("l"), .alt))
    harness.take(.signIn(.code(try code(), problem: nil)))
    let grid = harness.chat.draw(.dark()).grid
    let cells = (0..<rows).map { row in
      grid[row: row].count {
        [Color.rgb(255, 255, 255), .rgb(0, 0, 0)].contains($0.style.background)
      }
    }.filter { $0 > 0 }
    let qr = try #require(QRCode(try code().qr))
    let sizes = QRCode.quietZones.map { qr.size(quietZone: $0) }
    #expect(
      cells.isEmpty != isShown
        && (cells.isEmpty
          || sizes.contains { size in
            cells.count == size.rows && cells.allSatisfy { $0 == size.columns }
          }),
      "\(cells)")
    #expect(screen(harness).contains("WDJB-MJHT"))
    // Without colours it could not be scanned.
    #expect(!screen(harness, .plain).contains("▀"))
  }

  @Test func `warns of a link to another place, and of a relay that does not answer`() throws {
    var harness = signedOut()
    harness.press(Key(.character("l"), .alt))
    harness.take(.signIn(.code(try code("https://evil.example/x"), problem: "\u{1B}[2Jtimed out")))
    let text = screen(harness)
    #expect(text.contains("This link is not the relay's"))
    #expect(text.contains("does not answer"))
    #expect(!text.contains("▀"))
    #expect(!text.contains("\u{1B}"))
  }

  @Test(arguments: ["Esc", "next conversation", "answer"])
  func `is given up when its overlay is closed, and not by the help`(way: String) throws {
    var harness = signedOut()
    harness.open("general")
    harness.press(Key(.character("l"), .alt))
    harness.take(.signIn(.code(try code(), problem: nil)))
    harness.effects = []
    harness.press(Key(.function(1)))
    harness.take(.tick)
    #expect(!harness.effects.contains(.endSignIn))
    harness.press(Key(.escape))
    #expect(harness.chat.overlay == .signIn)
    #expect(harness.effects.isEmpty)
    switch way {
    case "Esc": harness.press(Key(.escape))
    case "next conversation": harness.press(Key(.up, .alt))
    default:
      harness.take(.signIn(.ended("The code has expired.")))
      #expect(screen(harness).contains("The code has expired."))
      harness.press(Key(.enter))
      #expect(harness.effects == [.signIn])
      #expect(screen(harness).contains("Asking the relay for a code"))
      return
    }
    #expect(harness.effects.contains(.endSignIn))
    #expect(harness.chat.overlay == nil && harness.chat.signIn == nil)
    // What comes too late is not shown.
    harness.take(.signIn(.code(try code(), problem: nil)))
    #expect(harness.chat.signIn == nil)
  }

  @Test func `keys and pastes change nothing in the overlay`() throws {
    var harness = signedOut()
    harness.press(Key(.character("l"), .alt))
    harness.take(.signIn(.code(try code(), problem: nil)))
    harness.effects = []
    harness.type("yes")
    harness.take(.input(.paste("y")))
    harness.press(Key(.enter))
    #expect(harness.effects.isEmpty)
    #expect(harness.chat.overlay == .signIn)
    #expect(harness.chat.composer.text == "a draft")
  }
}
