import Client
import Glibc
import Messenger
internal import Terminal
import Wire

/// Formats an entry as a line for the user: `HH:MM  from  text`, or `SEQ  HH:MM  from  text`.
enum EntryLine {
  /// - Parameters:
  ///   - relay: Where a file of the entry can be downloaded.
  ///   - hidden: How many entries it stands for, if it is hidden.
  static func format(
    _ entry: Entry, from relay: RelayURL, withSequence: Bool = false, hidden: Int = 1
  ) -> String {
    if entry.kind == .hidden {
      return
        "\(withSequence ? "\(entry.seq)  " : "")\(clock(entry.at))  (\(NoticeText.hidden(hidden)))\n"
    }
    return
      "\(withSequence ? "\(entry.seq)  " : "")\(clock(entry.at))  \(TerminalText.line(entry.from))  \(TerminalText.line(said(in: entry, relay)))\n"
  }

  /// An entry that refers to an earlier one names it by number, because a printed line cannot be
  /// changed.
  private static func said(in entry: Entry, _ relay: RelayURL) -> String {
    let target = entry.target.map { "\($0)" } ?? "?"
    switch entry.kind {
    case .text:
      if entry.isDeleted { return "(deleted)" }
      return entry.replyTo.map { "(reply to \($0)) \(entry.text ?? "")" } ?? entry.text ?? ""
    case .file:
      guard let file = entry.file else { return "(deleted)" }
      let said = [
        "FILE \(file.name) \(file.description?.size ?? 0)",
        // A relay that is hostile could end the address with its id.
        RelayURL.isSegment(file.id) ? relay.address(of: "v1/files/\(file.id)") : "",
        file.caption ?? "",
      ].filter { !$0.isEmpty }.joined(separator: " ")
      return file.replyTo.map { "(reply to \($0)) \(said)" } ?? said
    case .data where entry.isDeleted: return "(deleted)"
    case .data: return entry.data.map { String(decoding: compact($0), as: UTF8.self) } ?? ""
    case .edit:
      return entry.text == ""
        ? "(edit of \(target), deleted)" : "(edit of \(target)) \(entry.text ?? "")"
    case .delete: return "(deletes \(target))"
    case .react:
      guard let (emoji, isOn) = entry.reaction else { return "" }
      return isOn ? "(\(emoji) for \(target))" : "(removes \(emoji) from \(target))"
    case .settings, .member:
      return "(\(NoticeText(name: { $0 }, time: { date($0) }).line(for: entry)))"
    default: return "(\(entry.kind.rawValue))"
    }
  }

  /// Returns the JSON without white space between its tokens.
  static func compact(_ json: ArraySlice<UInt8>) -> [UInt8] {
    var compact: [UInt8] = []
    var isInString = false
    var isEscaped = false
    for byte in json {
      if isInString {
        if !isEscaped, byte == UInt8(ascii: "\"") { isInString = false }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      } else {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D: continue
        case UInt8(ascii: "\""): isInString = true
        default: break
        }
      }
      compact.append(byte)
    }
    return compact
  }

  /// Local time.
  private static func clock(_ milliseconds: Int64) -> String {
    guard let time = local(milliseconds) else { return "--:--" }
    return "\(two(time.hour)):\(two(time.minute))"
  }

  /// Returns a time that may be far away: `2026-11-27 14:02`.
  private static func date(_ milliseconds: Int64) -> String {
    guard let time = local(milliseconds) else { return "a later time" }
    return "\(time.year)-\(two(time.month))-\(two(time.day)) \(two(time.hour)):\(two(time.minute))"
  }

  private static func local(
    _ milliseconds: Int64
  ) -> (year: Int32, month: Int32, day: Int32, hour: Int32, minute: Int32)? {
    var seconds = time_t(milliseconds / 1000)
    var fields = unsafe tm()
    LocalTime.followZone()
    guard unsafe localtime_r(&seconds, &fields) != nil else { return nil }
    return unsafe (
      fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min
    )
  }

  private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
