internal import Glibc
internal import Platform
internal import Server

/// A simulated disk as the product's folder of files uses it: each call is one of a process that may die before, within or after
/// it, and whose disk may be full or fail.
///
/// A failed sync of a folder leaves its names as they are: a file system that cannot write these takes no more.
@safe final class SimulatedFolderDisk: FolderDisk, @unchecked Sendable {
  /// Used by one thread, as the disk is.
  private let disk: SimulatedDisk
  private let life: Int
  /// The folder that exists.
  private let root: String

  init(_ disk: SimulatedDisk, root: String) {
    (self.disk, self.root) = (disk, root)
    life = disk.life
  }

  /// Whether the process that has the disk open is gone, or about to be.
  private var isDead: Bool { disk.isDead || disk.life != life }

  // MARK: - Reading

  func names(in folder: String) -> [String]? {
    guard !isDead, disk.file(folder)?.kind == .folder else { return nil }
    return disk.names(in: folder)
  }

  func isEmpty(_ folder: String) -> Bool { names(in: folder)?.isEmpty ?? true }

  func status(of path: String) -> (size: Int64, writtenAt: Int64)? {
    guard !isDead, let file = disk.file(path), file.kind != .folder else { return nil }
    return (Int64(file.content.count), file.writtenAt)
  }

  func read(
    _ path: String, at offset: Int64, bytes limit: Int
  ) throws(SystemError) -> (bytes: [UInt8], size: Int64) {
    if isDead { throw SystemError("read \(path)", code: EIO) }
    if disk.fails(disk.trouble.failingReads) {
      disk.tally.count(.readFailed)
      throw SystemError("read \(path)", code: EIO)
    }
    let content = try file(path, "read").content
    return (Array(content.dropFirst(Int(offset)).prefix(limit)), Int64(content.count))
  }

  func freeBytes(of folder: String) -> Int64? { nil }

  private func file(_ path: String, _ call: String) throws(SystemError) -> DiskFile {
    guard let file = disk.file(path) else { throw SystemError("\(call) \(path)", code: ENOENT) }
    return file
  }

  // MARK: - Writing

  func createFolder(_ path: String) throws(SystemError) {
    var missing: [String] = []
    var folder = path
    while folder != root, disk.file(folder) == nil {
      missing.append(folder)
      folder = SimulatedDisk.folder(of: folder)
    }
    for folder in missing.reversed() {
      try change("mkdir", folder) { _ = disk.create(folder, .folder) }
    }
  }

  func createSecretFolder(_ path: String) throws(SystemError) { try createFolder(path) }

  func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
    if let file = disk.file(path) {
      try change("open", path) { file.truncate(to: 0) }
    } else {
      try change("open", path) { _ = disk.create(path, .appended) }
    }
    try write(bytes, to: path, at: 0)
  }

  func write(_ bytes: [UInt8], to path: String, at offset: Int64) throws(SystemError) {
    let file = try file(path, "write")
    let end = Int(offset) + bytes.count
    if !isDead, disk.trouble.isFull, end > file.content.count {
      disk.tally.count(.diskFull)
      throw SystemError("write \(path)", code: ENOSPC)
    }
    try change("write", path) {
      file.writtenAt = disk.wallClock
      file.write(bytes, at: Int(offset))
    } within: {
      file.write(Array(bytes.prefix(disk.part(of: bytes.count))), at: Int(offset))
    }
  }

  func truncate(_ path: String, to size: Int64) throws(SystemError) {
    let file = try file(path, "truncate")
    try change("truncate", path) { file.truncate(to: Int(size)) }
  }

  func link(_ path: String, to name: String) throws(SystemError) {
    let file = try file(path, "link")
    guard disk.file(name) == nil else { throw SystemError("link \(name)", code: EEXIST) }
    try change("link", name) { disk.name(file, name) }
  }

  func rename(_ path: String, to name: String) throws(SystemError) {
    let file = try file(path, "rename")
    try change("rename", name) {
      disk.name(file, name)
      disk.delete(path)
    }
  }

  func remove(_ path: String) {
    guard disk.file(path) != nil else { return }
    // A file system that cannot remove a name takes no more.
    let failing = disk.trouble.failingWrites
    disk.trouble.failingWrites = 0
    defer { disk.trouble.failingWrites = failing }
    try? change("unlink", path) { disk.delete(path) }
  }

  func sync(_ path: String) throws(SystemError) {
    let isRoot = path == root
    let file = disk.file(path)
    if file == nil, !isRoot { throw SystemError("fsync \(path)", code: ENOENT) }
    func sync() {
      if let file, file.kind != .folder { file.sync() } else { disk.syncNames(of: path) }
    }
    if isDead { throw SystemError("fsync \(path)", code: EIO) }
    disk.pause()
    disk.tally.count(.synced)
    disk.trace? { "disk: \(path) sync" }
    switch disk.nextCut(isSync: true) {
    case .no: break
    case .before: try die(.deathBeforeSync, "fsync", path)
    case .within: try die(.deathWithinSync, "fsync", path)
    case .after:
      sync()
      try die(.deathAfterSync, "fsync", path)
    }
    if disk.fails(disk.trouble.failingSyncs) {
      disk.tally.count(.syncFailed)
      disk.trace? { "disk: the sync fails" }
      if let file { disk.failSync(file) }
      throw SystemError("fsync \(path)", code: EIO)
    }
    sync()
  }

  /// Makes one call that changes something.
  /// - Parameter within: what a call does that is cut short, or fails.
  private func change(
    _ call: String, _ path: String, _ change: () -> Void, within part: () -> Void = {}
  ) throws(SystemError) {
    if isDead { throw SystemError("\(call) \(path)", code: EIO) }
    disk.pause()
    disk.trace? { "disk: \(call) \(path)" }
    switch disk.nextCut() {
    case .no: break
    case .before: try die(.deathBeforeWrite, call, path)
    case .within:
      part()
      try die(.deathWithinWrite, call, path)
    case .after:
      change()
      try die(.deathAfterWrite, call, path)
    }
    if disk.fails(disk.trouble.failingWrites) {
      disk.tally.count(.writeFailed)
      part()
      throw SystemError("\(call) \(path)", code: EIO)
    }
    change()
  }

  private func die(
    _ event: Tally.Event, _ call: String, _ path: String
  ) throws(SystemError) {
    disk.tally.count(event)
    disk.trace? { "disk: \(event.rawValue)" }
    disk.die()
    throw SystemError("\(call) \(path)", code: EIO)
  }
}
