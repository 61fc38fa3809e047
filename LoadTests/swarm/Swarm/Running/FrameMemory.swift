internal import Client
import Terminal

/// The last frames that came, whoever got them: what is shown around a violation.
///
/// One ring for all receivers, so that a receiver that is given nothing costs nothing, and a frame
/// costs a copy of its beginning, or less: of entries that had been checked before only the numbers
/// are kept.
struct FrameMemory {
  /// Shown of a receiver.
  static let frames = 4
  static let frameBytes = 240
  private static let recordLimit = 1 << 16
  private static let byteLimit = 1 << 22

  private enum Content {
    /// In `bytes`; the first byte's number counts up for ever.
    case copy(at: Int, count: Int)
    /// So many entries, from that number on.
    case entries(room: Int32, first: Int64, count: Int32)
  }

  private struct Record {
    var receiver: Int32
    var content: Content
  }

  private var records: [Record] = []
  private var next = 0
  private var bytes: [UInt8] = []
  /// The number of the byte that comes next.
  private var end = 0

  mutating func add(_ frame: Span<UInt8>, to receiver: Int) {
    let count = min(frame.count, Self.frameBytes)
    // In one piece: what is left at the ring's end is left free.
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

  /// What a receiver was given last, the oldest first, as far as it is remembered.
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
