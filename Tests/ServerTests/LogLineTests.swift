import Logging
import TestSupport
import Testing

@testable import Server

@Suite struct `A line of the operator's log` {
  private static let user = LogLine.Value.text("ada")
  private static let time = LogTime(milliseconds: 1_795_807_281_007)

  private func line(
    _ format: LogLine.Format, _ message: String = "A user signed in.",
    _ fields: [(name: String, value: LogLine.Value)] = [("user", user)]
  ) -> String {
    let line = LogLine(time: Self.time, level: .warning, message: message, fields: fields)
    return String(decoding: line.bytes(format), as: UTF8.self)
  }

  @Test func `has the time, the level, the message and the fields`() {
    #expect(line(.text) == "\(Self.time) warning A user signed in. user=ada\n")
  }

  @Test func `has a priority in the journal, which has the time and the level itself`() {
    #expect(line(.journal) == "<4>A user signed in. user=ada\n")
    #expect(line(.jsonInJournal).hasPrefix(#"<4>{"time":""#))
  }

  @Test func `is an object in JSON, with numbers as numbers`() {
    let fields: [(name: String, value: LogLine.Value)] = [
      ("user", Self.user), ("count", .number(-7)),
    ]
    #expect(
      line(.json, "A user signed in.", fields)
        == #"{"time":"\#(Self.time)","level":"warning","message":"A user signed in.","user":"ada","count":-7}"#
        + "\n")
  }

  @Test func `keeps its own members if a field has the same name`() {
    #expect(
      line(.json, "m", [("message", .text("x"))]).hasSuffix(
        #""message":"m","message_":"x"}"# + "\n"))
  }

  // MARK: - Hostile texts

  /// Each with how it is written as a value in text, and in JSON.
  static let hostile: [(text: String, value: String, json: String)] = [
    ("a\nb", #""a\nb""#, #""a\nb""#),
    ("a\r\tb", #""a\r\tb""#, #""a\r\tb""#),
    ("\u{1B}[2J", #""\u{1b}[2J""#, #""\u001b[2J""#),
    ("\u{0}\u{7F}\u{9B}", #""\u{0}\u{7f}\u{9b}""#, #""\u0000\u007f\u009b""#),
    ("\u{2028}\u{2029}\u{85}", #""\u{2028}\u{2029}\u{85}""#, #""\u2028\u2029\u0085""#),
    ("\u{202E}gpj", #""\u{202e}gpj""#, #""\u202egpj""#),
    (
      "\u{2066}a\u{2069}\u{200F}\u{61C}", #""\u{2066}a\u{2069}\u{200f}\u{61c}""#,
      #""\u2066a\u2069\u200f\u061c""#
    ),
    ("a\u{200B}b", #""a\u{200b}b""#, #""a\u200bb""#),
    ("\u{E0041}", #""\u{e0041}""#, #""\udb40\udc41""#),
    ("x user=bo", #""x user=bo""#, #""x user=bo""#),
    (#"a"b"#, #""a\"b""#, #""a\"b""#),
    (#"a\nb"#, #""a\\nb""#, #""a\\nb""#),
    ("a=b", #""a=b""#, #""a=b""#),
    ("", #""""#, #""""#),
    ("Zoë-李", "Zoë-李", #""Zoë-李""#),
  ]

  @Test(arguments: hostile.indices)
  func `keeps a hostile text on the line, inside of its field`(index: Int) {
    let (text, value, json) = Self.hostile[index]
    #expect(line(.journal, "m", [("user", .text(text))]) == "<4>m user=\(value)\n")
    #expect(line(.json, "m", [("user", .text(text))]).hasSuffix(#","user":\#(json)}"# + "\n"))
  }

  @Test(arguments: hostile.indices)
  func `is one line, whatever the message is`(index: Int) {
    for format in [LogLine.Format.text, .journal, .json, .jsonInJournal] {
      let line = line(format, Self.hostile[index].text, [])
      #expect(line.unicodeScalars.filter { $0.value < 0x20 }.count == 1)
      #expect(line.last == "\n")
    }
  }

  @Test(arguments: ["a", "é", "\u{1B}", "🎈", "\u{E0041}", "\"", "\\"])
  func `is of limited length`(character: String) {
    let text = String(repeating: character, count: 100_000)
    let limit = LogLine.textBytesLimit
    #expect(line(.journal, text, []).utf8.count <= limit + 5)
    let long = line(.json, "m", (0..<100).map { ("field\($0)", .text(text)) })
    #expect(long.utf8.count <= (LogLine.fieldsLimit + 1) * (limit + 20))
    #expect(long.hasSuffix(#"…"}"# + "\n"))
    #expect(long.contains(#""field19":"#) && !long.contains(#""field20":"#))
  }

  // MARK: - Time

  /// 1970, the two sides of a leap day, and later than 32 bits.
  @Test(arguments: [0, 1_709_251_199_999, 1_709_251_200_000, 1_795_807_281_007, 4_294_967_296_050])
  func `has the time as date(1) shows it, with milliseconds and the zone`(milliseconds: Int64)
    throws
  {
    let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    let fraction = String("00\(rest)".suffix(3))
    let date = try ChildProcess(
      ["date", "-d", "@\(seconds)", "+%Y-%m-%dT%H:%M:%S.\(fraction)%:z"], input: "")
    try date.wait()
    #expect("\(LogTime(milliseconds: milliseconds))\n" == date.output)
  }
}
