/// A model of a folder on a disk that may lose power: which changes are durable, and which may be
/// lost.
///
/// The model is that of a journaling file system such as ext4: an fsync of a file makes its bytes,
/// its size and its name durable. Without it each write may be present or not, entirely or by
/// sectors, in any order. Changes of names are durable in order, up to some point.
struct Disk {
  /// How much of the unsynced changes survives a power loss.
  enum Mercy: CaseIterable {
    /// Nothing.
    case none
    /// Everything before a random time.
    case earlier
    /// Each write at random, as a whole.
    case some
    /// Each sector of each write at random.
    case torn
  }

  static let sectorBytes = 512

  private final class File {
    var bytes: [UInt8]
    /// The numbers of the events that are not durable.
    var unsafe: [Int] = []
    init(_ bytes: [UInt8] = []) { self.bytes = bytes }
  }

  private enum NameChange {
    case create(String, File)
    case unlink(String)
    case rename(from: String, to: String)
  }

  private let record: DiskRecord
  /// By inode, as the running system sees it.
  private var open: [UInt64: File] = [:]
  /// As a system would see it after a restart.
  private var names: [String: File] = [:]
  private var changes: [(number: UInt64, change: NameChange)] = []

  /// - Parameters:
  ///   - files: The durable files when the record began.
  ///   - record: The changes since then.
  init(_ files: [String: [UInt8]], _ record: DiskRecord) {
    self.record = record
    names = files.mapValues { File($0) }
    // The names as the running system sees them; files from before the record have no inode until
    // they are opened.
    var present = names
    for (place, event) in record.events.enumerated() {
      switch event.operation {
      case .create(let name):
        let file = File()
        (open[event.file], present[name]) = (file, file)
        changes.append((event.number, .create(name, file)))
      case .open(let name): if let file = present[name] { open[event.file] = file }
      case .write, .truncate: open[event.file]?.unsafe.append(place)
      case .sync(let through):
        guard let file = open[event.file] else { continue }
        sync(file, through: through)
        if let last = changes.last(where: { isCreation($0.change, of: file) }) {
          syncNames(through: last.number)
        }
      case .unlink(let name):
        present[name] = nil
        changes.append((event.number, .unlink(name)))
      case .rename(let from, let to):
        present[to] = present.removeValue(forKey: from)
        changes.append((event.number, .rename(from: from, to: to)))
      case .syncFolder(let through): syncNames(through: through)
      }
    }
  }

  /// Returns a possible state of the files after a power loss.
  func afterPowerLoss(
    _ mercy: Mercy, using random: inout some RandomNumberGenerator
  ) -> [String: [UInt8]] {
    let moment = UInt64.random(in: 0...UInt64(record.events.count), using: &random)
    var names = self.names
    let survivingNames =
      switch mercy {
      case .none: 0
      case .earlier: changes.count { $0.number <= moment }
      case .some, .torn: Int.random(in: 0...changes.count, using: &random)
      }
    for (_, change) in changes.prefix(survivingNames) { Self.apply(change, to: &names) }
    var contents: [ObjectIdentifier: [UInt8]] = [:]
    var result: [String: [UInt8]] = [:]
    // In the order of names, so that a seed always gives the same result.
    for (name, file) in names.sorted(by: { $0.key < $1.key }) {
      let bytes =
        contents[ObjectIdentifier(file)]
        ?? remains(of: file, mercy, before: moment, using: &random)
      contents[ObjectIdentifier(file)] = bytes
      result[name] = bytes
    }
    return result
  }

  // MARK: Implementation

  private func isCreation(_ change: NameChange, of file: File) -> Bool {
    if case .create(_, let created) = change { created === file } else { false }
  }

  private func sync(_ file: File, through number: UInt64) {
    let count = file.unsafe.prefix { record.events[$0].number <= number }.count
    for place in file.unsafe.prefix(count) {
      apply(record.events[place].operation, to: &file.bytes)
    }
    file.unsafe.removeFirst(count)
  }

  private mutating func syncNames(through number: UInt64) {
    let count = changes.prefix { $0.number <= number }.count
    for (_, change) in changes.prefix(count) { Self.apply(change, to: &names) }
    changes.removeFirst(count)
  }

  private static func apply(_ change: NameChange, to names: inout [String: File]) {
    switch change {
    case .create(let name, let file): names[name] = file
    case .unlink(let name): names[name] = nil
    case .rename(let from, let to): names[to] = names.removeValue(forKey: from)
    }
  }

  private func apply(_ operation: DiskRecord.Operation, to bytes: inout [UInt8]) {
    switch operation {
    case .write(let range, let offset): write(range, at: offset, to: &bytes)
    case .truncate(let size): Self.resize(&bytes, to: size)
    default: break
    }
  }

  private func write(_ range: Range<Int>, at offset: Int, to bytes: inout [UInt8]) {
    if bytes.count < offset + range.count { Self.resize(&bytes, to: offset + range.count) }
    bytes.replaceSubrange(offset..<offset + range.count, with: record.bytes[range])
  }

  private static func resize(_ bytes: inout [UInt8], to size: Int) {
    if size < bytes.count {
      bytes.removeLast(bytes.count - size)
    } else {
      bytes.append(contentsOf: repeatElement(0, count: size - bytes.count))
    }
  }

  private func remains(
    of file: File, _ mercy: Mercy, before moment: UInt64,
    using random: inout some RandomNumberGenerator
  ) -> [UInt8] {
    var bytes = file.bytes
    for place in file.unsafe {
      let event = record.events[place]
      switch mercy {
      case .none: break
      case .earlier: if event.number <= moment { apply(event.operation, to: &bytes) }
      case .some: if Bool.random(using: &random) { apply(event.operation, to: &bytes) }
      case .torn:
        guard case .write(let range, let offset) = event.operation else {
          if Bool.random(using: &random) { apply(event.operation, to: &bytes) }
          continue
        }
        var lower = range.lowerBound
        while lower < range.upperBound {
          let place = offset + lower - range.lowerBound
          let upper = min(range.upperBound, lower + Self.sectorBytes - place % Self.sectorBytes)
          if Bool.random(using: &random) { write(lower..<upper, at: place, to: &bytes) }
          lower = upper
        }
      }
    }
    return bytes
  }
}
