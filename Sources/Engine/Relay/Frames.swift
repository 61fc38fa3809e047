public import Wire

/// Frames in one buffer, and the bounds of each.
public struct Frames: Sendable {
  /// The bounds of one frame in `bytes`; the payload ends where the frame does.
  public struct Bounds: Sendable, Equatable {
    public var lower: Int32
    public var payload: Int32
    public var upper: Int32
  }

  public private(set) var bytes: [UInt8] = []
  public private(set) var bounds: [Bounds] = []
  private var scratch: [UInt8] = []

  public init() {}

  public var count: Int { bounds.count }

  mutating func reserve(frames: Int, bytes: Int) {
    self.bytes.reserveCapacity(bytes)
    bounds.reserveCapacity(frames)
  }

  /// Appends an entry as one frame.
  public mutating func append(_ entry: Entry, _ framing: Framing) {
    scratch.removeAll(keepingCapacity: true)
    entry.append(to: &scratch)
    let lower = bytes.count
    framing.appendHeader(scratch.count, &bytes)
    let payload = bytes.count
    bytes.append(contentsOf: scratch)
    bounds.append(
      Bounds(
        lower: Int32(truncatingIfNeeded: lower), payload: Int32(truncatingIfNeeded: payload),
        upper: Int32(truncatingIfNeeded: bytes.count)))
  }

  /// Removes the last frame if there are others and all together exceed the limit.
  mutating func dropLast(ifOver limitBytes: Int) {
    guard bounds.count > 1, bytes.count > limitBytes, let last = bounds.last else { return }
    bytes.removeLast(bytes.count - Int(last.lower))
    bounds.removeLast()
  }

  /// Returns the total length of consecutive frames in bytes.
  func length(_ range: Range<Int>) -> Int {
    range.isEmpty
      ? 0 : Int(bounds[range.upperBound - 1].upper) - Int(bounds[range.lowerBound].lower)
  }

  /// Returns the JSON of a frame.
  public func payload(_ index: Int) -> ArraySlice<UInt8> {
    bytes[Int(bounds[index].payload)..<Int(bounds[index].upper)]
  }
}
