internal import Glibc
internal import ObjectStorage
internal import Platform
internal import TLS

/// The bytes of uploaded files in a backup: each content once, however many points need it.
///
/// Bytes are stored before the first point that needs them, and deleted after the last one that does. They are in
/// pieces of limited size, so that none of them is in memory as a whole. A content that no file has any more is marked
/// with the point from which on none needs it.
final class FileObjects {
  /// The folder of a data folder, and of the storage.
  static let folder = "files"
  static let pieceBytes = 8 << 20

  private let storage: any ObjectStorage
  private let put:
    (_ bytes: [UInt8], _ name: String, _ storage: any ObjectStorage) throws(BackupError) -> Void
  private var isClaimed = false
  /// The contents that are there as a whole, and in how many pieces.
  private var contents: [String: Int] = [:]
  /// From which point on a content is not needed.
  private var unneeded: [String: Int] = [:]
  /// Pieces of contents that are not there as a whole.
  private var leftovers: [FileObjectName] = []

  /// Looks what there is.
  /// - Parameter put: stores an object.
  init(
    _ storage: any ObjectStorage,
    put:
      @escaping (_ bytes: [UInt8], _ name: String, _ storage: any ObjectStorage)
      throws(BackupError) -> Void
  ) throws(BackupError) {
    self.storage = storage.folder(Self.folder)
    self.put = put
    var pieces: [String: [FileObjectName]] = [:]
    for name in try FileObjectName.all(in: self.storage) {
      switch name.kind {
      case .piece: pieces[name.hash, default: []].append(name)
      case .unneeded(let point): unneeded[name.hash] = max(unneeded[name.hash] ?? 0, point)
      }
    }
    for (hash, names) in pieces {
      if let count = FileObjectName.wholeCount(names) {
        contents[hash] = count
      } else {
        leftovers += names
      }
    }
  }

  /// Stores contents of a data folder that are not there yet.
  /// - Returns: the hashes whose bytes the data folder lacks, or has damaged.
  func copy(
    _ hashes: some Sequence<String>, from dataFolder: String, _ pacer: inout Pacer
  ) throws -> [String] {
    var absent: [String] = []
    for hash in hashes where contents[hash] == nil {
      let path = FileObjectName.path(of: hash, inDataFolder: dataFolder)
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      if descriptor < 0 {
        let error = SystemError.last("open \(path)")
        guard error.code == ENOENT || error.code == ELOOP else { throw error }
        absent.append(hash)
        continue
      }
      defer { close(descriptor) }
      if try !copy(hash, from: descriptor, path, &pacer) { absent.append(hash) }
    }
    return absent
  }

  /// - Returns: `false` if they do not have the hash.
  private func copy(
    _ hash: String, from descriptor: Int32, _ path: String, _ pacer: inout Pacer
  ) throws -> Bool {
    try claim()
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError.last("stat \(path)") }
    let size = Int(status.st_size)
    let count = max(1, (size + Self.pieceBytes - 1) / Self.pieceBytes)
    var digest = DigestStream()
    for number in 1...count {
      let start = (number - 1) * Self.pieceBytes
      var piece = [UInt8](repeating: 0, count: min(Self.pieceBytes, size - start))
      let read = unsafe pread(descriptor, &piece, piece.count, off_t(start))
      guard read >= 0 else { throw SystemError.last("read \(path)") }
      piece.removeLast(piece.count - read)
      digest.add(piece, count: piece.count)
      pacer.record(piece.count)
      try put(piece, FileObjectName.piece(number, of: count, hash).text, storage)
      pacer.wait()
    }
    guard SHA256Digest.hex(digest.finish()) == hash else {
      leftovers += (1...count).map { .piece($0, of: count, hash) }
      return false
    }
    contents[hash] = count
    return true
  }

  /// Must be called before a point is stored that has these hashes.
  func need(_ hashes: Set<String>) throws(BackupError) {
    for (hash, point) in unneeded where hashes.contains(hash) {
      try delete(.unneeded(from: point, hash))
      unneeded[hash] = nil
    }
  }

  /// Marks all contents without these hashes as not needed from a point on.
  func need(only hashes: Set<String>, from point: Int) throws(BackupError) {
    for hash in contents.keys where !hashes.contains(hash) && unneeded[hash] == nil {
      try claim()
      try put([], FileObjectName.unneeded(from: point, hash).text, storage)
      unneeded[hash] = point
    }
  }

  /// Deletes what no point needs, if this is the oldest one.
  func delete(unneededFrom oldest: Int) throws(BackupError) {
    for (hash, point) in unneeded where point <= oldest {
      for number in 1...(contents[hash] ?? 1) {
        try delete(.piece(number, of: contents[hash] ?? 1, hash))
      }
      contents[hash] = nil
      try delete(.unneeded(from: point, hash))
      unneeded[hash] = nil
    }
    for name in leftovers where contents[name.hash] == nil { try delete(name) }
    leftovers = []
  }

  private func delete(_ name: FileObjectName) throws(BackupError) {
    do throws(StorageError) { try storage.delete(name.text) } catch { throw BackupError(error) }
  }

  /// Creates the folder, once it is needed.
  private func claim() throws(BackupError) {
    if isClaimed { return }
    do throws(StorageError) { try storage.claim() } catch { throw BackupError(error) }
    isClaimed = true
  }
}
