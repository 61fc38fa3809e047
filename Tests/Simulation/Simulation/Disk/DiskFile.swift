/// One file of a simulated disk: its content as processes see it, and the changes that a loss of
/// power could undo.
final class DiskFile {
  /// An unsynced change of the file.
  enum Change {
    case write(offset: Int, bytes: [UInt8])
    case truncate(bytes: Int)
  }

  /// What a loss of power leaves of unsynced changes.
  enum Kind {
    /// A database, whose changes survive or not, independently of each other.
    case pages
    /// A file that only grows, on a file system that grows a file after its data is written: what survives are the
    /// first changes, and perhaps a part of the next one.
    case appended
    /// Its names are changes of the disk.
    case folder
  }

  let kind: Kind
  /// When it was last written, in milliseconds since 1970.
  var writtenAt: Int64 = 0

  /// The content that processes see.
  private(set) var content: [UInt8]
  /// The content that is durable.
  private(set) var durable: [UInt8]
  /// The changes since then, in order.
  private(set) var unsynced: [Change] = []

  var locks = FileLocks()
  var sharedMemory: SharedMemory?

  /// Creates a file whose content is durable.
  init(_ content: [UInt8] = [], _ kind: Kind = .pages) {
    self.content = content
    self.kind = kind
    durable = content
  }

  func write(_ bytes: [UInt8], at offset: Int) {
    content.overwrite(with: bytes, at: offset)
    unsynced.append(.write(offset: offset, bytes: bytes))
  }

  func truncate(to bytes: Int) {
    guard bytes < content.count else { return }
    content.removeLast(content.count - bytes)
    unsynced.append(.truncate(bytes: bytes))
  }

  /// Makes all changes durable.
  func sync() {
    for change in unsynced { durable.apply(change) }
    unsynced.removeAll()
  }

  /// Fails a sync: some changes may have become durable, and Linux forgets that the others have
  /// not. A later sync succeeds without writing those pages again.
  func failSync(using random: inout some RandomNumberGenerator) {
    for change in unsynced where Bool.random(using: &random) { durable.apply(change) }
    unsynced.removeAll()
  }

  /// Applies a loss of power.
  /// - Parameter keepPercent: the probability that an unsynced change has reached the medium.
  func losePower(
    keepPercent: Int, using random: inout some RandomNumberGenerator, _ tally: inout Tally
  ) {
    var lostOne = false
    for change in unsynced {
      if lostOne, kind == .appended {
        tally.count(.changeLost)
        continue
      }
      let isKept = Int.random(in: 0..<100, using: &random) < keepPercent
      if isKept { tally.count(.changeSurvived) } else { tally.count(.changeLost) }
      if isKept, lostOne { tally.count(.changeReordered) }
      lostOne = lostOne || !isKept
      if kind == .appended {
        if isKept {
          durable.apply(change)
        } else if case .write(let offset, let bytes) = change {
          let count = Int.random(in: 0...bytes.count, using: &random)
          durable.overwrite(with: Array(bytes.prefix(count)), at: offset)
        }
        continue
      }
      if case .write(let offset, let bytes) = change, bytes.count > 1,
        Int.random(in: 0..<100, using: &random) < 20
      {
        tally.count(.writeTorn)
        durable.tear(bytes, at: offset, using: &random)
      } else if isKept {
        durable.apply(change)
      }
    }
    unsynced.removeAll()
    content = durable
    forgetProcesses()
  }

  /// Releases the locks and the shared memory of processes that are gone; the content stays.
  func forgetProcesses() {
    locks = FileLocks()
    sharedMemory = nil
  }
}

extension [UInt8] {
  /// The unit of the medium: a torn write survives in whole sectors.
  static let sectorBytes = 512

  mutating func overwrite(with bytes: [UInt8], at offset: Int) {
    if offset == count {
      append(contentsOf: bytes)
      return
    }
    if offset + bytes.count > count {
      append(contentsOf: repeatElement(0, count: offset + bytes.count - count))
    }
    unsafe withUnsafeMutableBytes { to in
      unsafe bytes.withUnsafeBytes { from in
        unsafe UnsafeMutableRawBufferPointer(rebasing: to[offset..<offset + bytes.count])
          .copyMemory(from: from)
      }
    }
  }

  fileprivate mutating func apply(_ change: DiskFile.Change) {
    switch change {
    case .write(let offset, let bytes): overwrite(with: bytes, at: offset)
    case .truncate(let bytes): if bytes < count { removeLast(count - bytes) }
    }
  }

  /// Writes only some of the sectors that the write covers; the others keep their old content.
  fileprivate mutating func tear(
    _ bytes: [UInt8], at offset: Int, using random: inout some RandomNumberGenerator
  ) {
    var lower = 0
    while lower < bytes.count {
      let sectorEnd = ((offset + lower) / Self.sectorBytes + 1) * Self.sectorBytes - offset
      let upper = Swift.min(bytes.count, sectorEnd)
      if Bool.random(using: &random) {
        overwrite(with: Array(bytes[lower..<upper]), at: offset + lower)
      }
      lower = upper
    }
  }
}
