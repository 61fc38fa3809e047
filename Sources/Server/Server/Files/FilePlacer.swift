package import Gateway
import Glibc
package import Platform
package import Relay
import TLS
import Wire

/// Makes files of complete uploads, and removes the bytes of those that are gone. Confined to a thread of its own, since it
/// reads whole files and syncs them: no other upload waits for that, nor does the log.
package struct FilePlacer {
  private let folder: FileFolder
  private let bytes: any FileBytes
  private let processor: any FileProcessor
  private let counts: FileCounts
  /// The hashes of uploads whose file the log does not confirm to know, by their ids.
  private var unconfirmed: [String: [String]] = [:]
  /// These, and what was stored since bytes were last removed.
  private var spared: Set<String> = []
  /// Where the search for bytes that no file has goes on, and what it has found and not named yet.
  private var place: String?
  private var searched: [String] = []
  private var searchedAt: Int64 = 0

  private static let searchMilliseconds: Int64 = 86_400_000
  /// The number of hashes about which the log is asked at once.
  private static let hashesAtOnce = 256

  /// - Parameter folder: that of uploads.
  package init(
    _ folder: FileFolder, _ bytes: any FileBytes, _ processor: any FileProcessor,
    _ counts: FileCounts
  ) {
    (self.folder, self.bytes, self.processor, self.counts) = (folder, bytes, processor, counts)
    counts.add(storedBytes: bytes.countedBytes)
  }

  // MARK: - Uploads

  /// Stores the bytes of a complete upload.
  ///
  /// They are hashed here, once all are there, and not as they arrive: that way an upload that was resumed after a
  /// restart is like any other, and the bytes are in the system's cache still.
  package mutating func place(
    _ id: String, of user: String, now: Int64
  ) throws(FileBytesError) -> StoredFile {
    let upload = folder.upload(id)
    unconfirmed[id] = nil
    let processed = processor.process(upload)
    let made = [processed.path, processed.thumbnail?.path].compactMap { $0 }
    defer { for path in made { folder.remove(path) } }
    let hash = try store(processed.path ?? upload, for: id)
    var thumbnail: String?
    if let path = processed.thumbnail?.path { thumbnail = try store(path, for: id) }
    let size = folder.status(of: processed.path ?? upload)?.size ?? 0
    let description = FileDescription(
      size: size, mediaType: processed.mediaType, width: processed.width,
      height: processed.height, durationMilliseconds: processed.durationMilliseconds,
      thumbnail: processed.thumbnail.map {
        FileDescription.Thumbnail(
          width: $0.width, height: $0.height, placeholder: $0.placeholder)
      })
    return StoredFile(
      id: id, owner: user, hash: hash, thumbnail: thumbnail, description: description,
      uploadedAt: now)
  }

  private mutating func store(_ path: String, for id: String) throws(FileBytesError) -> String {
    let hash: String
    do throws(SystemError) { hash = SHA256Digest.hex(try folder.digest(of: path)) } catch {
      throw FileBytesError(error)
    }
    let name = bytes.name(ofHash: hash)
    unconfirmed[id, default: []].append(name)
    spared.insert(name)
    let added = try paced { () throws(FileBytesError) in try bytes.store(path, as: name) }
    counts.add(storedBytes: added)
    return name
  }

  /// Appends the unchecked bytes of an upload at an offset, its end, if they have a checksum.
  /// - Returns: whether they do.
  package func check(
    _ id: String, at offset: Int64, _ checksum: UploadChecksum
  ) throws(FileBytesError) -> Bool {
    do throws(SystemError) {
      let digest = try folder.digest(of: folder.unchecked(id), checksum.algorithm)
      guard digest == checksum.digest else { return false }
      try folder.appendUnchecked(id, at: offset)
      return true
    } catch {
      throw FileBytesError(error)
    }
  }

  package func sync(_ id: String) throws(SystemError) {
    try paced { () throws(SystemError) in try folder.syncBytes(of: folder.upload(id)) }
  }

  /// Waits after a sync for as long as it took: uploads have the disk for at most half of the time, and the log's
  /// own syncs the rest.
  private func paced<Result, Failure>(
    _ sync: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let began = Instant.now()
    defer { usleep(UInt32(min(Instant.now().nanoseconds(since: began) / 1000, 100_000))) }
    return try sync()
  }

  /// The log knows the file of an upload, or the upload is gone.
  package mutating func forget(_ id: String) { unconfirmed[id] = nil }

  // MARK: - Bytes that no file has

  /// Removes stored bytes, except those that were stored again: see `FileUpkeep`.
  package mutating func remove(_ hashes: [String], now: Int64) -> FileWorkResult {
    var removed: [String] = []
    for hash in hashes where !spared.contains(hash) {
      // The next round tries again.
      guard let size = try? bytes.remove(hash) else { break }
      folder.remove(folder.png(of: hash))
      counts.add(storedBytes: -size)
      removed.append(hash)
    }
    spared = Set(unconfirmed.values.joined())
    return .removed(removed, old: search(now))
  }

  /// Returns stored bytes that are older than a day, some at a time; all of them once a day. A relay that was killed
  /// may have left some that the log knows nothing of.
  private mutating func search(_ now: Int64) -> [String] {
    if place == nil, searched.isEmpty {
      guard now - searchedAt >= Self.searchMilliseconds || now < searchedAt else { return [] }
      searchedAt = now
      place = ""
    }
    if searched.isEmpty, let from = place {
      // Of a storage that fails the next search finds what is left.
      let found = try? bytes.names(storedBefore: now - Self.searchMilliseconds, from: from)
      (searched, place) = found ?? ([], nil)
    }
    let some = searched.prefix(Self.hashesAtOnce)
    searched.removeFirst(some.count)
    return Array(some)
  }
}
