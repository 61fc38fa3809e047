internal import Glibc
internal import WebSocket

/// The newest entries of a room as consecutive frames, as received; each has been checked against
/// every promise.
///
/// A relay that encodes an entry once for all receivers gives each of them the same bytes. If the
/// next frames at a receiver's cursor are equal to these, one memcmp replaces decoding and checking
/// them.
struct RoomTape: Sendable {
  /// The number of the first frame that is kept.
  private(set) var first: Int64 = 1
  private var bytes: [UInt8] = []
  /// The end of each frame.
  private var ends: [Int] = []
  /// The intended time of each entry.
  private var intended: [UInt64] = []

  /// The number after the last one.
  var end: Int64 { first + Int64(ends.count) }

  /// Appends the next entry, or begins anew with one that is further ahead; one that is or was
  /// stored changes nothing.
  ///
  /// - Parameter limitBytes: Beyond this size the older half is dropped.
  mutating func append(
    _ payload: Span<UInt8>, seq: Int64, intended: UInt64, limitBytes: Int
  ) {
    guard seq >= end else { return }
    if seq > end {
      self = RoomTape()
      first = seq
    }
    // As RFC 6455 §5.2 requires: one frame with the shortest length encoding.
    FrameHeader(opcode: .text, payloadLength: payload.count).append(to: &bytes)
    unsafe payload.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    ends.append(bytes.count)
    self.intended.append(intended)
    if bytes.count > limitBytes { forget(bytes.count - limitBytes / 2) }
  }

  /// Drops at least this many bytes, in whole frames.
  private mutating func forget(_ count: Int) {
    let frames = min(ends.count, ends.prefix { $0 < count }.count + 1)
    let cut = ends[frames - 1]
    bytes.removeFirst(cut)
    ends.removeFirst(frames)
    intended.removeFirst(frames)
    for index in ends.indices { ends[index] -= cut }
    first += Int64(frames)
  }

  /// Returns how much of `input` consists of stored frames, consecutive from that number on.
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
    // The caller has checked both ranges.
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

  /// Returns the intended times of the entries from that number on.
  func intended(from seq: Int64, count: Int) -> ArraySlice<UInt64> {
    let start = Int(seq - first)
    return intended[start..<start + count]
  }

  /// Returns the JSON of an entry, if it is stored.
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
