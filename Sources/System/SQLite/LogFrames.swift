/// The committed frames of a database's write-ahead log, read step by step
/// (<https://sqlite.org/fileformat2.html#the_write_ahead_log>).
struct LogFrames {
  static let headerBytes = 32
  static let frameHeaderBytes = 24

  /// What the log of one time has in common: SQLite changes them when it begins the log anew. Empty = there
  /// is no log.
  private(set) var salts: [UInt8] = []
  /// The page in each frame.
  private(set) var pages: [UInt32] = []
  /// The number of pages of the database after the last commit; `nil` = no commit is in the log.
  private(set) var pageCount: UInt32?
  private var frames: [UInt32: Int] = [:]
  private var sum = LogSum(isBigEndian: false)

  /// Where a page's content is in the log, if it is there.
  func offset(of page: UInt32, pageBytes: Int) -> Int64? {
    frames[page].map { frame in
      Int64(Self.headerBytes + frame * (Self.frameHeaderBytes + pageBytes) + Self.frameHeaderBytes)
    }
  }

  /// Whether the file still holds the log that was read.
  func isCurrent(in file: OpenFile?) throws(SQLiteError) -> Bool {
    pages.isEmpty ? true : try Self.header(of: file).map { Array($0[16..<24]) } == salts
  }

  private static func header(of file: OpenFile?) throws(SQLiteError) -> [UInt8]? {
    var header = [UInt8](repeating: 0, count: headerBytes)
    guard let file, try file.read(&header, at: 0) else { return nil }
    var sum = LogSum(isBigEndian: header[3] & 1 == 1)
    sum.add(header[..<24])
    guard LogSum.word(header, 0) | 1 == 0x377F_0683, sum.isStored(in: header, at: 24) else {
      return nil
    }
    return header
  }

  /// Reads the commits that were added since the last call, or the log that has taken its place.
  mutating func update(from file: OpenFile?, pageBytes: Int) throws(SQLiteError) {
    guard let file, let header = try Self.header(of: file) else {
      self = LogFrames()
      return
    }
    let found = Array(header[16..<24])
    if found != salts {
      self = LogFrames()
      salts = found
      sum = LogSum(isBigEndian: header[3] & 1 == 1)
      sum.resume(from: header, at: 24)
    }
    var frame = [UInt8](repeating: 0, count: Self.frameHeaderBytes + pageBytes)
    var next = sum
    var uncommitted: [UInt32] = []
    while true {
      let place = pages.count + uncommitted.count
      guard try file.read(&frame, at: Int64(Self.headerBytes + place * frame.count)),
        frame[8..<16].elementsEqual(salts)
      else { return }
      next.add(frame[..<8])
      next.add(frame[Self.frameHeaderBytes...])
      guard next.isStored(in: frame, at: 16) else { return }
      uncommitted.append(LogSum.word(frame, 0))
      let committed = LogSum.word(frame, 4)
      guard committed != 0 else { continue }
      for page in uncommitted {
        frames[page] = pages.count
        pages.append(page)
      }
      uncommitted.removeAll(keepingCapacity: true)
      pageCount = committed
      sum = next
    }
  }
}
