/// Messages that are in no order, as JSON in a temporary file, which is read again room by room and in the
/// order of time. Of each message 32 bytes are in memory.
struct MessageSpool {
  struct Record {
    var at: Int64
    var offset: Int
    var length: UInt32
    var room: Int32
    /// The number of the message, in the order in which they were added.
    var number: UInt32
    /// The number after that of the message to which it replies; 0 = none.
    fileprivate var reply: UInt32

    var replyTo: UInt32? { reply == 0 ? nil : reply - 1 }
  }

  private let file: OpenFile
  private var buffer: [UInt8] = []
  private(set) var records: [Record] = []

  private static let bufferBytes = 1 << 20
  /// The number of the line, before each message.
  private static let lineBytes = 8

  init(folder: String) throws(UnreadableExport) { file = try OpenFile(temporaryIn: folder) }

  /// Adds a message, and returns its number.
  /// - Parameters:
  ///   - json: less than 4 GiB.
  ///   - line: its line in the export.
  mutating func add(
    _ json: [UInt8], line: Int, room: Int32, at time: Int64, replyTo: UInt32? = nil
  ) throws(UnreadableExport) -> UInt32 {
    guard records.count < ImportLimits.sortedMessages else {
      throw UnreadableExport(
        "The export", "has more than \(ImportLimits.sortedMessages) messages; export it in parts")
    }
    let number = UInt32(records.count)
    records.append(
      Record(
        at: time, offset: file.size + buffer.count, length: UInt32(json.count), room: room,
        number: number, reply: replyTo.map { $0 + 1 } ?? 0))
    for shift in 0..<Self.lineBytes {
      buffer.append(UInt8(truncatingIfNeeded: line >> (8 * shift)))
    }
    buffer += json
    if buffer.count >= Self.bufferBytes { try flush() }
    return number
  }

  private mutating func flush() throws(UnreadableExport) {
    try file.append(buffer)
    buffer.removeAll(keepingCapacity: true)
  }

  /// Sorts the messages by room and time. Nothing is added afterwards.
  mutating func sort() throws(UnreadableExport) {
    try flush()
    records.sort { ($0.room, $0.at, $0.number) < ($1.room, $1.at, $1.number) }
  }

  func read(_ record: Record) throws(UnreadableExport) -> (json: [UInt8], line: Int) {
    let bytes = try file.read(at: record.offset, count: Self.lineBytes + Int(record.length))
    let line = bytes.prefix(Self.lineBytes).reversed().reduce(0) { $0 << 8 | Int($1) }
    return (Array(bytes.dropFirst(Self.lineBytes)), line)
  }
}
