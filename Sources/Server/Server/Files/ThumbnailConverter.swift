import DequeModule
import Platform
import Synchronization

/// Makes PNGs of thumbnails when they are requested, for clients that cannot show WebP.
///
/// Its thread converts one at a time, since each takes a process; requests for the same thumbnail wait for the same one.
/// The PNGs are in a folder of limited size: the oldest go, and are made again if they are requested again. Where other relays
/// may remove the thumbnail, each goes soon after it was requested, since nothing tells this one.
final class ThumbnailConverter<Request: Sendable>: Sendable {
  /// How many thumbnails wait; further ones are refused. A conversion takes some hundredths of a second.
  let waitingLimit: Int
  let keptLimitBytes: Int64
  private let folder: FileFolder
  private let bytes: any FileBytes
  private let processor: any FileProcessor
  /// None of 640 by 640 pixels is larger.
  private static var thumbnailLimitBytes: Int { 4 << 20 }
  private static var sharedMilliseconds: Int { 1000 }
  private let waiting = Mutex<[String: [Request]]>([:])
  private let hashes = WorkQueue<String>()

  init(
    _ folder: FileFolder, _ bytes: any FileBytes, _ processor: any FileProcessor,
    waitingLimit: Int = 64, keptLimitBytes: Int64 = 64 << 20
  ) {
    (self.folder, self.bytes, self.processor) = (folder, bytes, processor)
    (self.waitingLimit, self.keptLimitBytes) = (waitingLimit, keptLimitBytes)
  }

  /// Lets a request wait for the PNG of a thumbnail. Thread-safe.
  /// - Returns: `false` if too many wait.
  func convert(_ hash: String, for request: Request) -> Bool {
    waiting.withLock { waiting in
      if waiting[hash] == nil {
        guard waiting.count < waitingLimit else { return false }
        waiting[hash] = []
        hashes.append(hash)
      }
      waiting[hash]?.append(request)
      return true
    }
  }

  /// Converts until `stop` is called.
  /// - Parameter answer: called once a PNG is made, or cannot be, with whether the thumbnail exists, and the requests that
  ///   have waited.
  func run(_ answer: (_ exists: Bool, [Request]) -> Void) {
    // Those of an earlier relay: nothing else has to know of them.
    folder.clear(folder.pngs)
    var kept: Deque<(hash: String, bytes: Int64, madeAt: Instant)> = []
    var keptBytes: Int64 = 0
    while let batch = hashes.takeAll(
      timeoutMilliseconds: bytes.isShared && !kept.isEmpty ? Self.sharedMilliseconds : nil)
    {
      let now = Instant.now()
      for hash in batch {
        // A request may have looked for it just before it was there.
        let isMade = folder.status(of: folder.png(of: hash)) != nil
        let madeBytes = isMade || hashes.isEnding ? nil : makePNG(of: hash)
        if let madeBytes {
          kept.append((hash, madeBytes, now))
          keptBytes += madeBytes
        }
        answer(
          madeBytes != nil || exists(hash), waiting.withLock { $0.removeValue(forKey: hash) } ?? [])
      }
      while let oldest = kept.first, keptBytes > keptLimitBytes || isOver(oldest.madeAt, now) {
        kept.removeFirst()
        folder.remove(folder.png(of: oldest.hash))
        keptBytes -= oldest.bytes
      }
    }
  }

  private func isOver(_ madeAt: Instant, _ now: Instant) -> Bool {
    bytes.isShared && now.nanoseconds(since: madeAt) >= Int64(Self.sharedMilliseconds) * 1_000_000
  }

  /// Lets `run` return once it has answered. Thread-safe.
  func stop() { hashes.close() }

  /// Whether the bytes are there, as far as that can be found out.
  private func exists(_ hash: String) -> Bool {
    do throws(FileBytesError) { return try bytes.read(hash, at: 0, bytes: 1) != nil } catch {
      return true
    }
  }

  /// - Returns: its size; `nil` if there is none.
  private func makePNG(of hash: String) -> Int64? {
    let png = folder.png(of: hash)
    let (thumbnail, draft) = ("\(png).webp", "\(png).new")
    defer { for path in [thumbnail, draft] { folder.remove(path) } }
    guard (try? folder.disk.createFolder(folder.pngs)) != nil,
      let stored = try? bytes.read(hash, at: 0, bytes: Self.thumbnailLimitBytes),
      stored.bytes.count == Int(stored.size),
      (try? folder.disk.write(stored.bytes, to: thumbnail)) != nil,
      processor.convertToPNG(thumbnail, into: draft),
      (try? folder.disk.rename(draft, to: png)) != nil
    else { return nil }
    // If the file was removed in the meantime, its PNG was looked for before it was there.
    guard exists(hash) else {
      folder.remove(png)
      return nil
    }
    return folder.status(of: png)?.size
  }
}
