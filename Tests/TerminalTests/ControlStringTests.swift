import Testing

@testable import Terminal

@Suite struct `Control strings` {
  static func text(_ bytes: [UInt8]?) -> String? {
    bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"), ("é\u{1B}", "w6kb"), ("~~~???", "fn5+Pz8/"),
  ])
  func `a text is copied by OSC 52, in base64`(text: String, encoded: String) {
    #expect(Self.text(ControlString.copy(text)) == "\u{1B}]52;c;\(encoded)\u{1B}\\")
  }

  @Test func `text that is too long for terminals is not copied`() {
    #expect(ControlString.copy(String(repeating: "x", count: 56_244)) != nil)
    #expect(ControlString.copy(String(repeating: "x", count: 56_248)) == nil)
  }

  @Test func `a title and a notification end at their end, whatever they contain`() {
    let evil = "a\u{1B}\\b\u{7}c\u{9C}d\ne\u{202E};f"
    #expect(Self.text(ControlString.title(evil)) == "\u{1B}]0;a\\bcd e;f\u{1B}\\")
    #expect(
      Self.text(ControlString.notification(title: evil, body: evil, as: .osc9))
        == "\u{1B}]9;a\\bcd e;f: a\\bcd e;f\u{1B}\\")
    #expect(
      Self.text(ControlString.notification(title: evil, body: evil, as: .osc777))
        == "\u{1B}]777;notify;a\\bcd e,f;a\\bcd e;f\u{1B}\\")
    #expect(
      Self.text(ControlString.notification(title: "t", body: evil, as: .osc99))
        == "\u{1B}]99;i=wschat:d=0;t\u{1B}\\\u{1B}]99;i=wschat:d=1:p=body;a\\bcd e;f\u{1B}\\")
  }

  @Test func `a notification that begins with a number is not another command`() {
    #expect(
      Self.text(ControlString.notification(title: "", body: "4;1;50", as: .osc9))
        == "\u{1B}]9; 4;1;50\u{1B}\\")
  }

  /// `notify-send` and a desktop show exactly the written text.
  @Test(arguments: [
    ("<b>bold</b> & <a href=\"x\">", "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;a href=\"x\"&gt;"),
    ("&lt;", "&amp;lt;"), (#"C:\new\"#, #"C:\\new\\"#), ("--help", "--help"),
    ("a\u{1B}[31m\u{7}\nb", "a[31m b"), ("grüße 日本", "grüße 日本"),
  ])
  func `markup is shown and not interpreted`(body: String, written: String) {
    #expect(ControlString.notificationMarkup(body) == written)
  }

  @Test func `long texts are cut`() {
    #expect(ControlString.title(String(repeating: "x", count: 10_000)).count < 300)
    let zalgo = "a" + String(repeating: "\u{301}", count: 10_000)
    #expect(ControlString.title(zalgo).count < 600)
  }
}
