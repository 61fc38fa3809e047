/// One file of a simulated disk: what a process sees of it, and what would be left of that if the
/// power failed now.
final class DiskFile {
  /// Something that was done to the file and not synced.
  enum Change {
    case write(offset: Int, bytes: [UInt8])
    case truncate(bytes: Int)
  }

  /// What processes see.
  private(set) var content: [UInt8]
  /// What the medium holds for sure.
  private(set) var durable: [UInt8]
  /// What was done since, in this order.
  private(set) var unsynced: [Change] = []

  var locks = FileLocks()
  var sharedMemory: SharedMemory?

  /// A file all of which is durable.
  init(_ content: [UInt8] = []) {
    self.content = content
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

  /// All of it is durable from now on.
  func sync() {
    for change in unsynced { durable.apply(change) }
    unsynced.removeAll()
  }

  /// A sync that failed: some of it may have become durable, and Linux forgets that the rest is not.
  /// A later sync succeeds without writing these pages again.
  func failSync(using random: inout some RandomNumberGenerator) {
    for change in unsynced where Bool.random(using: &random) { durable.apply(change) }
    unsynced.removeAll()
  }

  /// The power fails.
  /// - Parameter keepPercent: how likely each unsynced change has reached the medium.
  func losePower(
    keepPercent: Int, using random: inout some RandomNumberGenerator, _ tally: inout Tally
  ) {
    var lostOne = false
    for change in unsynced {
      let isKept = Int.random(in: 0..<100, using: &random) < keepPercent
      if isKept { tally.count(.changeSurvived) } else { tally.count(.changeLost) }
      if isKept, lostOne { tally.count(.changeReordered) }
      lostOne = lostOne || !isKept
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

  /// The processes that had it open are gone; the file is as they left it.
  func forgetProcesses() {
    locks = FileLocks()
    sharedMemory = nil
  }
}

extension [UInt8] {
  /// The medium's unit: what of a write survives is whole sectors of it.
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

  /// Some of the sectors that the write covers get it, others keep what they had.
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
