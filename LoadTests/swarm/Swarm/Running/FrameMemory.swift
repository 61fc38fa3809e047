internal import Client
import Terminal

/// The most recent frames of all receivers, which are shown around a violation.
///
/// There is one ring for all receivers, so a receiver without frames costs nothing. A frame costs
/// at most a copy of its beginning; of known entries only the numbers are stored.
struct FrameMemory {
  /// The number of frames shown per receiver.
  static let frames = 4
  static let frameBytes = 240
  private static let recordLimit = 1 << 16
  private static let byteLimit = 1 << 22

  private enum Content {
    /// In `bytes`; byte numbers increase forever.
    case copy(at: Int, count: Int)
    /// Consecutive entries, from that number on.
    case entries(room: Int32, first: Int64, count: Int32)
  }

  private struct Record {
    var receiver: Int32
    var content: Content
  }

  private var records: [Record] = []
  private var next = 0
  private var bytes: [UInt8] = []
  /// The number of the next byte.
  private var end = 0

  mutating func add(_ frame: Span<UInt8>, to receiver: Int) {
    let count = min(frame.count, Self.frameBytes)
    // Stored contiguously: the rest of the ring's end is left unused.
    let place = end % Self.byteLimit
    if place + count > Self.byteLimit { end += Self.byteLimit - place }
    let start = end % Self.byteLimit
    if start + count > bytes.count {
      bytes.append(contentsOf: repeatElement(0, count: start + count - bytes.count))
    }
    for index in 0..<count { bytes[start + index] = frame[index] }
    add(Record(receiver: Int32(receiver), content: .copy(at: end, count: count)))
    end += count
  }

  mutating func add(_ run: Oracle.KnownRun) {
    add(
      Record(
        receiver: Int32(run.receiver),
        content: .entries(room: Int32(run.room), first: run.first, count: Int32(run.count))))
  }

  private mutating func add(_ record: Record) {
    if records.count < Self.recordLimit { return records.append(record) }
    records[next] = record
    next = next + 1 < Self.recordLimit ? next + 1 : 0
  }

  /// Returns the last frames of a receiver, oldest first, as far as they are stored.
  func lines(of receiver: Int, _ oracle: Oracle) -> [String] {
    var shown: [[UInt8]] = []
    let newestFirst = records[..<next].reversed() + records[next...].reversed()
    for record in newestFirst where record.receiver == receiver {
      switch record.content {
      case .copy(let at, let count):
        guard end - at <= Self.byteLimit else { break }
        let start = at % Self.byteLimit
        shown.append(Array(bytes[start..<start + count]))
      case .entries(let room, let first, let count):
        for seq in (first..<first + Int64(count)).reversed().prefix(Self.frames - shown.count) {
          shown.append(Array(oracle.shown(Int(room), seq).prefix(Self.frameBytes)))
        }
      }
      if shown.count >= Self.frames { break }
    }
    return shown.reversed().map { TerminalText.line(String(decoding: $0, as: UTF8.self)) }
  }
}
