import Wire

/// Encodes messages as frames, in buffers that are used again.
struct FrameEncoder {
  private let framing: Framing
  let compression: Compression?
  private var json: [UInt8] = []
  /// The last message that `encode` made, as one frame.
  private(set) var frame: [UInt8] = []

  init(_ framing: Framing, _ compression: Compression?) {
    self.framing = framing
    self.compression = compression
  }

  /// Appends a message's JSON to an outbox, as one frame.
  func append(json: [UInt8], compresses: Bool, to outbox: inout [UInt8]) {
    if compresses, let compression, json.count >= compression.minimumBytes {
      compression.append(json.span, &outbox)
    } else {
      framing.appendHeader(json.count, &outbox)
      outbox.append(contentsOf: json)
    }
  }

  /// Appends a message to an outbox, as one frame.
  /// - Parameter write: appends the message's JSON to an empty buffer.
  mutating func append(
    compresses: Bool, to outbox: inout [UInt8], _ write: (inout [UInt8]) -> Void
  ) {
    json.removeAll(keepingCapacity: true)
    write(&json)
    append(json: json, compresses: compresses, to: &outbox)
  }

  /// Encodes a message into `frame`, uncompressed.
  mutating func encode(_ write: (inout [UInt8]) -> Void) {
    json.removeAll(keepingCapacity: true)
    write(&json)
    frame.removeAll(keepingCapacity: true)
    framing.appendHeader(json.count, &frame)
    frame.append(contentsOf: json)
  }

  /// The length of a message's JSON in bytes.
  mutating func length(_ write: (inout [UInt8]) -> Void) -> Int {
    json.removeAll(keepingCapacity: true)
    write(&json)
    return json.count
  }
}
