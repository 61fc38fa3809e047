import Gateway
import Glibc
import Platform
import TLS

/// The folder that has the bytes of files: those of uploads by their ids in `uploads`, and stored ones by their SHA-256 in
/// folders named by its first two digits; in `png` what was made of thumbnails. Only the relay's user may access it. Every call blocks.
package struct FileFolder: Sendable {
  let path: String
  let disk: any FolderDisk

  package init(path: String, on disk: any FolderDisk = SystemDisk()) {
    (self.path, self.disk) = (path, disk)
  }

  /// That of a store.
  init(inDataFolder folder: String) { self.init(path: "\(folder)/files") }

  var uploads: String { "\(path)/uploads" }
  func upload(_ id: String) -> String { "\(uploads)/\(id)" }
  func unchecked(_ id: String) -> String { "\(uploads)/\(id).unchecked" }
  func record(_ id: String) -> String { "\(uploads)/\(id).json" }
  func subfolder(of hash: String) -> String { "\(path)/\(hash.prefix(2))" }
  package func stored(_ hash: String) -> String { "\(subfolder(of: hash))/\(hash)" }
  var pngs: String { "\(path)/png" }
  func png(of thumbnail: String) -> String { "\(pngs)/\(thumbnail)" }

  /// The hashes of all stored bytes whose first two digits these are.
  func hashes(in name: String) -> [String] {
    (disk.names(in: "\(path)/\(name)") ?? []).filter {
      $0.utf8.count == 64 && $0.hasPrefix(name)
    }
  }

  /// The folders of stored bytes.
  var folders: [String] {
    (disk.names(in: path) ?? []).filter { $0.utf8.count == 2 }
  }

  func prepare() throws(SystemError) {
    try disk.createSecretFolder(path)
    try disk.createFolder(uploads)
  }

  /// Removes everything.
  package func clear() {
    clear(uploads)
    clear(pngs)
    for name in folders { for hash in hashes(in: name) { remove(stored(hash)) } }
  }

  /// Removes the files of a folder.
  func clear(_ folder: String) {
    for name in disk.names(in: folder) ?? [] { remove("\(folder)/\(name)") }
  }

  func remove(_ path: String) { disk.remove(path) }
  var freeBytes: Int64? { disk.freeBytes(of: path) }
  func status(of path: String) -> (size: Int64, writtenAt: Int64)? { disk.status(of: path) }

  /// Makes a file the stored bytes with a hash. It keeps its first name: were the relay killed now, the upload would
  /// still be there, and complete.
  /// - Returns: whether there were none with this hash.
  func store(_ path: String, as hash: String) throws(SystemError) -> Bool {
    let isNew = status(of: stored(hash)) == nil
    try prepare(subfolder(of: hash))
    try syncBytes(of: path)
    // Replaces what may be there: a disk may have damaged it. A rename of a file to another name of its own does
    // nothing, so the draft is removed in any case.
    let draft = "\(stored(hash)).new"
    remove(draft)
    defer { remove(draft) }
    try disk.link(path, to: draft)
    try disk.rename(draft, to: stored(hash))
    try disk.sync(subfolder(of: hash))
    return isNew
  }

  /// Creates a folder of stored bytes, unless it has some. Its name is durable before it has the first: a relay that was
  /// killed may have left an empty one whose name is not.
  private func prepare(_ subfolder: String) throws(SystemError) {
    guard disk.isEmpty(subfolder) else { return }
    try disk.createFolder(subfolder)
    try disk.sync(path)
    try disk.sync(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
  }

  /// Syncs a file, and removes it if that fails: Linux then considers its bytes written, so that a later sync would
  /// succeed without them.
  func syncBytes(of path: String) throws(SystemError) {
    do throws(SystemError) { try disk.sync(path) } catch {
      remove(path)
      throw error
    }
  }

  /// Appends the unchecked bytes of an upload at an offset, its end.
  func appendUnchecked(_ id: String, at offset: Int64) throws(SystemError) {
    let (unchecked, upload) = (unchecked(id), upload(id))
    // Most uploads with a checksum are a single request.
    if offset == 0 { return try disk.rename(unchecked, to: upload) }
    do throws(SystemError) {
      try forEachBlock(of: unchecked) { (block, place) throws(SystemError) in
        try disk.write(block, to: upload, at: offset + place)
      }
    } catch {
      try? disk.truncate(upload, to: offset)
      throw error
    }
    remove(unchecked)
  }

  /// Returns the digest of a file.
  func digest(
    of path: String, _ algorithm: UploadChecksum.Algorithm = .sha256
  ) throws(SystemError) -> [UInt8] {
    var digest = DigestStream(algorithm == .sha1 ? .sha1 : .sha256)
    try forEachBlock(of: path) { (block, _) in digest.add(block, count: block.count) }
    return digest.finish()
  }

  private func forEachBlock(
    of path: String, _ body: (_ block: [UInt8], _ offset: Int64) throws(SystemError) -> Void
  ) throws(SystemError) {
    var offset: Int64 = 0
    while true {
      let block = try disk.read(path, at: offset, bytes: 1 << 18).bytes
      if block.isEmpty { return }
      try body(block, offset)
      offset += Int64(block.count)
    }
  }
}

extension SystemError {
  /// Whether the disk takes no more.
  var isFullDisk: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
}
