internal import Glibc
internal import WebSocket

/// The newest entries of a room as they came over the wire, frame behind frame, each of which has
/// been held against every promise.
///
/// A relay that encodes an entry once for all gives every receiver the same bytes. Then what is
/// next at a receiver's cursor and equal to what lies here needs no second look: one memcmp stands
/// for decoding it, and for all that follows from that.
struct RoomTape: Sendable {
  /// The number of the first frame that is kept.
  private(set) var first: Int64 = 1
  private var bytes: [UInt8] = []
  /// Where each frame ends.
  private var ends: [Int] = []
  /// When what it carries was to be sent.
  private var intended: [UInt64] = []

  /// The number after the last one.
  var end: Int64 { first + Int64(ends.count) }

  /// Adds the entry that follows, or begins anew with one that is further on; one that is here, or
  /// was, changes nothing.
  ///
  /// - Parameter limitBytes: beyond it the older half is forgotten.
  mutating func append(
    _ payload: Span<UInt8>, seq: Int64, intended: UInt64, limitBytes: Int
  ) {
    guard seq >= end else { return }
    if seq > end {
      self = RoomTape()
      first = seq
    }
    // As RFC 6455 §5.2 wants it: one frame, its length in the fewest bytes.
    FrameHeader(opcode: .text, payloadLength: payload.count).append(to: &bytes)
    unsafe payload.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    ends.append(bytes.count)
    self.intended.append(intended)
    if bytes.count > limitBytes { forget(bytes.count - limitBytes / 2) }
  }

  /// At least so many bytes, in whole frames.
  private mutating func forget(_ count: Int) {
    let frames = min(ends.count, ends.prefix { $0 < count }.count + 1)
    let cut = ends[frames - 1]
    bytes.removeFirst(cut)
    ends.removeFirst(frames)
    intended.removeFirst(frames)
    for index in ends.indices { ends[index] -= cut }
    first += Int64(frames)
  }

  /// How much of `input` is frames that lie here, from that number on, one behind the other.
  func run(in input: Span<UInt8>, from seq: Int64) -> (frames: Int, bytes: Int) {
    guard seq >= first, seq < end else { return (0, 0) }
    var index = Int(seq - first)
    let origin = index > 0 ? ends[index - 1] : 0
    let start = index
    var (low, taken) = (origin, 0)
    while index < ends.count {
      let length = ends[index] - low
      guard length <= input.count - taken, isEqual(input, taken, low, length) else { break }
      taken += length
      low = ends[index]
      index += 1
    }
    return (index - start, taken)
  }

  private func isEqual(_ input: Span<UInt8>, _ at: Int, _ low: Int, _ length: Int) -> Bool {
    // Both ranges were held against their counts by the caller.
    let theirs = input.extracting(at..<at + length)
    let ours = bytes.span.extracting(low..<low + length)
    return unsafe theirs.withUnsafeBytes { theirs in
      unsafe ours.withUnsafeBytes { ours in
        guard let left = theirs.baseAddress, let right = ours.baseAddress else {
          return true
        }
        return unsafe memcmp(left, right, length) == 0
      }
    }
  }

  /// When the entries from that number on were to be sent.
  func intended(from seq: Int64, count: Int) -> ArraySlice<UInt64> {
    let start = Int(seq - first)
    return intended[start..<start + count]
  }

  /// The JSON under a number, as far as it is kept.
  func payload(_ seq: Int64) -> ArraySlice<UInt8>? {
    guard seq >= first, seq < end else { return nil }
    let index = Int(seq - first)
    let low = index > 0 ? ends[index - 1] : 0
    let frame = bytes[low..<ends[index]]
    // The header of an unmasked frame (RFC 6455 §5.2).
    let headerBytes = [126: 4, 127: 10][frame[low + 1]] ?? 2
    return frame.dropFirst(headerBytes)
  }
}
