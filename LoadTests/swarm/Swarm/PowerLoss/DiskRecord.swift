/// The writes and syncs of a relay, as recorded by `LoadTests/powerloss/recorder.c`.
struct DiskRecord {
  /// An operation on a file or the folder.
  enum Operation: Equatable {
    /// A new, empty file.
    case create(name: String)
    case open(name: String)
    case write(Range<Int>, at: Int)
    case truncate(to: Int)
    /// Everything up to that event number is durable.
    case sync(through: UInt64)
    case unlink(name: String)
    case rename(from: String, to: String)
    case syncFolder(through: UInt64)
  }

  struct Event {
    /// 1, 2, 3, …
    var number: UInt64
    /// The file's inode; without meaning for operations on names only.
    var file: UInt64
    var operation: Operation
  }

  /// The record is inconsistent, so the run proves nothing.
  struct Damage: Error, CustomStringConvertible {
    var description: String
  }

  private static let headerBytes = 40

  /// Contains the data of the writes.
  let bytes: [UInt8]
  private(set) var events: [Event] = []

  /// - Parameter bytes: The record; an incomplete last entry, cut off by the kill, is ignored.
  init(_ bytes: [UInt8]) throws(Damage) {
    self.bytes = bytes
    var offset = 0
    while offset + Self.headerBytes <= bytes.count {
      let header = (0..<5).map { integer(at: offset + 8 * $0) }
      let payload = offset + Self.headerBytes
      guard header[4] <= UInt64(bytes.count - payload) else { return }
      let range = payload..<payload + Int(header[4])
      guard header[0] == UInt64(events.count + 1) else {
        throw Damage(description: "record \(events.count + 1) has the number \(header[0])")
      }
      let operation = try operation(header[1], offset: header[3], range)
      events.append(Event(number: header[0], file: header[2], operation: operation))
      offset = range.upperBound
    }
  }

  private func operation(
    _ code: UInt64, offset: UInt64, _ payload: Range<Int>
  ) throws(Damage) -> Operation {
    switch code {
    case 1: return .create(name: name(payload))
    case 2: return .open(name: name(payload))
    case 3: return .write(payload, at: Int(offset))
    case 4: return .truncate(to: Int(offset))
    case 5: return .sync(through: offset)
    case 6: return .unlink(name: name(payload))
    case 7:
      let names = bytes[payload].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      guard names.count == 2 else {
        throw Damage(description: "a file was renamed to an empty name")
      }
      return .rename(from: names[0], to: names[1])
    case 8: return .syncFolder(through: offset)
    default:
      throw Damage(
        description:
          "the relay writes its files with a system call that the recorder does not intercept")
    }
  }

  private func name(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  private func integer(at offset: Int) -> UInt64 {
    (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
  }
}
