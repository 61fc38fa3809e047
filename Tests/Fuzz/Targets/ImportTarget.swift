import CZlib
import Glibc
import Imports
import Relay
import Wire

/// Input: a byte that chooses, then an archive of Slack, the messages of a day of a private channel of
/// Slack, an export of Mattermost, or a log of IRC.
enum ImportTarget {
  static func check(_ input: inout FuzzInput) throws(FuzzFinding) {
    let choice = input.choice() % 4
    let bytes = choice == 1 ? archive(day: Array(input.rest)) : Array(input.rest)
    let origin: ChatImport.Origin = [.slack, .slack, .mattermost, .irc][Int(choice)]
    let entries: [Entry]
    do {
      entries = try convert(bytes, from: origin)
    } catch let finding as FuzzFinding {
      throw finding
    } catch {
      // It cannot be imported, which the operator is told.
      return
    }
    var rooms: [String: Entry] = [:]
    for entry in entries {
      let last = rooms.updateValue(entry, forKey: entry.room)
      try expect(entry.seq == (last?.seq ?? 0) + 1, "\(entry.seq) follows \(last?.seq ?? 0)")
      try expect(entry.at >= last?.at ?? 0, "the time goes back in \(entry.room)")
      try expect(
        entry.text?.utf8.count ?? 1 <= Shard.Limits().textBytes,
        "a text of \(entry.body.count) bytes")
      if choice == 1, last == nil {
        try expect(entry.settings?.access == .private, "\(entry.room) is open")
      }
    }
  }

  private static func convert(_ bytes: [UInt8], from origin: ChatImport.Origin) throws -> [Entry] {
    var name = Array("/tmp/relay-fuzz.XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&name)
    precondition(descriptor >= 0, "/tmp takes files")
    defer { close(descriptor) }
    unsafe unlink(&name)
    precondition(unsafe write(descriptor, bytes, bytes.count) == bytes.count, "/tmp takes files")
    var chat = ChatImport()
    if origin == .irc {
      // No name of a channel.
      chat.selection = try RoomSelection(["\(descriptor)=log"])
      try chat.begin(on: "2005-01-31")
    }
    var entries: [Entry] = []
    _ = try chat.convert("/proc/self/fd/\(descriptor)", from: origin, existing: []) { next in
      while let line = try next() {
        do throws(ExportLine.Malformed) {
          if case .entry(let line) = try ImportLine(decoding: line) { entries.append(line.entry) }
        } catch {
          throw FuzzFinding(description: "a line is refused: \(error.reason)")
        }
      }
    }
    return entries
  }

  // MARK: Archives

  private static func archive(day: [UInt8]) -> [UInt8] {
    let files: [(name: String, content: [UInt8])] = [
      ("users.json", Array(#"[{"id":"U1","name":"ada"},{"id":"U2","name":"bo"}]"#.utf8)),
      ("groups.json", Array(#"[{"id":"G1","name":"den","members":["U1","U2"]}]"#.utf8)),
      ("den/2020-01-01.json", day),
    ]
    var archive: [UInt8] = []
    var list: [UInt8] = []
    for (name, content) in files {
      let sum = unsafe content.withUnsafeBufferPointer {
        unsafe crc32(0, $0.baseAddress, UInt32($0.count))
      }
      // Not packed: the method, the time and the day are 0.
      let sizes = number(Int(sum), 4) + number(content.count, 4) + number(content.count, 4)
      let common = number(20, 2) + number(0, 8) + sizes + number(name.utf8.count, 2) + number(0, 2)
      list += number(0x0201_4B50, 4) + number(20, 2) + common
      list += number(0, 10) + number(archive.count, 4) + Array(name.utf8)
      archive += number(0x0403_4B50, 4) + common + Array(name.utf8) + content
    }
    let count = number(files.count, 2)
    return archive + list + number(0x0605_4B50, 4) + number(0, 4) + count + count
      + number(list.count, 4) + number(archive.count, 4) + number(0, 2)
  }

  private static func number(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
