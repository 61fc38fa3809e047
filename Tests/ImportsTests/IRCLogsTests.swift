import Glibc
import Testing
import Wire

@testable import Imports

@Suite struct `Logs of IRC` {
  private var export: ExportFixture

  init() throws { export = try ExportFixture() }

  private func time(_ day: (Int, Int, Int), _ time: (Int, Int, Int)) -> Int64 {
    var parts = unsafe tm()
    unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (
      Int32(day.0 - 1900), Int32(day.1 - 1), Int32(day.2)
    )
    unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) = (
      Int32(time.0), Int32(time.1), Int32(time.2)
    )
    unsafe parts.tm_isdst = -1
    return Int64(unsafe mktime(&parts)) * 1000
  }

  @Test func `of irssi, with its changes of the day`() throws {
    try export.write(
      """
      --- Log opened Sat Jan 01 12:00:00 2005
      12:34 <@Ada> hi
      12:35 -!- bo [~bo@host] has joined #dev
      12:36  * bo waves
      12:37 -ChanServ:#dev- hello
      --- Day changed Sun Jan 02 2005
      00:01 < bo> <3 > 2
      --- Log closed Sun Jan 02 10:00:00 2005

      """, to: "#Dev.log")
    let converted = try export.convert(.irc)
    #expect(converted.texts(in: "dev") == ["hi", "* waves", "<3 > 2"])
    #expect(converted.senders(in: "dev") == ["ada", "bo", "bo"])
    #expect(
      converted.entries.map(\.at) == [
        time((2005, 1, 1), (12, 34, 0)), time((2005, 1, 1), (12, 36, 0)),
        time((2005, 1, 2), (0, 1, 0)),
      ])
    #expect(converted.report.contains("3: notices of IRC"), "\(converted.report)")
  }

  @Test func `of WeeChat, with tabs`() throws {
    try export.write(
      "2011-03-02 12:34:56\t@ada\thi\tthere\n2011-03-02 12:34:57\t-->\tbo has joined\n"
        + "2011-03-02 12:34:58\t *\tbo waves\n2011-03-02 12:34:59\t--\tMode #dev\n",
      to: "irc.libera.#dev.weechatlog")
    let converted = try export.convert(.irc)
    #expect(converted.texts(in: "dev") == ["hi\tthere", "* waves"])
    #expect(converted.entries.first?.at == time((2011, 3, 2), (12, 34, 56)))
  }

  @Test func `of ZNC, with the day in the name of each file`() throws {
    try export.write("[00:00:01] <bo> second\n", to: "net/#dev/2019-01-03.log")
    try export.write(
      "[23:59:59] <ada> first\n[23:59:59] *** Joins: bo\n[23:59:59] * ada nods\n",
      to: "net/#dev/2019-01-02.log")
    try export.write("[10:00:00] <ada> older\n", to: "ada_net_#dev_20181231.log")
    let converted = try export.convert(.irc)
    #expect(converted.texts(in: "dev").sorted() == ["* nods", "first", "older", "second"])
    #expect(converted.texts(in: "dev").suffix(2) == ["* nods", "second"])
    #expect(converted.entries.last?.at == time((2019, 1, 3), (0, 0, 1)))
  }

  @Test func `of conversations are left out, unless the operator names them`() throws {
    var export = export
    try export.write("[10:00:00] <bo> private\n", to: "net/bo/2019-01-02.log")
    try export.write("[10:00:00] <bo> open\n", to: "net/#dev/2019-01-02.log")
    let converted = try export.convert(.irc)
    #expect(converted.rooms == ["dev"])
    #expect(converted.report.contains("bo: its log is not named like a channel (#name)"))
    export.chat.selection = try RoomSelection(["bo=talk"])
    #expect(try export.convert(.irc).texts(in: "talk") == ["private"])
  }

  @Test(arguments: [
    ("#dev.log", "dev"), ("net/#dev/2019-01-02.log", "dev"), ("##C_2019-01-02.log", "c"),
    ("ada_net_#dev_20190102.log", "dev"), ("irc.net.#dev.weechatlog", "dev"),
    ("&local.log", "local"),
    ("#dev-2.log", "dev-2"),
  ])
  func `have the channel in their names`(path: String, name: String) {
    #expect(IRCLogs.channel(of: path).name == name)
    #expect(IRCLogs.channel(of: path).isChannel)
  }

  @Test(arguments: [
    ("bo.log", "bo"), ("net/bo/2019-01-02.log", "bo"), ("irc.net.bo.weechatlog", "irc.net.bo"),
  ])
  func `have the nick in the names of conversations`(path: String, name: String) {
    #expect(IRCLogs.channel(of: path).name == name)
    #expect(!IRCLogs.channel(of: path).isChannel)
  }

  @Test func `without a day need one`() throws {
    var export = export
    try export.write("12:34 <ada> hi\n", to: "#dev.log")
    let failure = export.failure(.irc)
    #expect(failure?.line == 1)
    #expect(failure?.reason.contains("say it with --date 2005-01-31") == true)
    try export.chat.begin(on: "2001-02-03")
    #expect(try export.convert(.irc).entries.first?.at == time((2001, 2, 3), (12, 34, 0)))
    for day in ["2001-13-03", "2001-02-29", "1900-01-01"] {
      #expect(throws: UnreadableExport.self) { try export.chat.begin(on: day) }
    }
  }

  @Test func `are UTF-8 or Latin-1, and lose their colours`() throws {
    var bytes = Array("2011-03-02 12:34:56\tada\tÜ \u{3}04,12red\u{3} \u{2}bold\u{2}\n".utf8)
    bytes += Array("2011-03-02 12:34:57\tada\tna".utf8) + [0xEF, 0x0A]
    try export.write(bytes, to: "#dev.log")
    #expect(try export.convert(.irc).texts(in: "dev") == ["Ü red bold", "naï"])
  }

  @Test func `a clock that goes back does not`() throws {
    try export.write(
      "2011-03-02 12:34:56\tada\ta\n2011-03-02 12:30:00\tada\tb\n", to: "#dev.log")
    let times = try export.convert(.irc).entries.map(\.at)
    #expect(times.count == 2)
    #expect(times[0] == times[1])
  }

  @Test func `a file that is none is refused, and other lines are counted`() throws {
    try export.write("hello\nworld\n", to: "#dev.log")
    let failure = export.failure(.irc)
    #expect(failure?.line == 1)
    #expect(failure?.file == "\(export.path)/#dev.log")
    try export.write(
      "2011-03-02 12:34:56\tada\ta\n2011-02-29 12:34:57\tada\tb\nhello\n", to: "#dev.log")
    let converted = try export.convert(.irc)
    #expect(converted.texts(in: "dev") == ["a"])
    #expect(
      converted.report.contains(
        "2: lines that are no log of irssi, WeeChat or ZNC; the first: \(export.path)/#dev.log, line 2\n"
      ), "\(converted.report)")
  }

  @Test func `a line beyond the limit is refused`() throws {
    let long = String(repeating: "x", count: ImportLimits.logLineBytes)
    try export.write("2011-03-02 12:34:56\tada\t\(long)\n", to: "#dev.log")
    #expect(export.failure(.irc)?.reason == "is longer than \(ImportLimits.logLineBytes) bytes")
  }
}
