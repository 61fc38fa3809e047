import DequeModule
import Glibc
import Platform
import Synchronization

/// Makes PNGs of thumbnails when they are requested, for clients that cannot show WebP.
///
/// Its thread converts one at a time, since each takes a process; requests for the same thumbnail wait for the same one.
/// The PNGs are in a folder of limited size: the oldest go, and are made again if they are requested again.
final class ThumbnailConverter<Request: Sendable>: Sendable {
  /// How many thumbnails wait; further ones are refused. A conversion takes some hundredths of a second.
  let waitingLimit: Int
  let keptLimitBytes: Int64
  private let folder: FileFolder
  private let processor: any FileProcessor
  private let waiting = Mutex<[String: [Request]]>([:])
  private let hashes = WorkQueue<String>()

  init(
    _ folder: FileFolder, _ processor: any FileProcessor, waitingLimit: Int = 64,
    keptLimitBytes: Int64 = 64 << 20
  ) {
    (self.folder, self.processor) = (folder, processor)
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
    var kept: Deque<(hash: String, bytes: Int64)> = []
    var keptBytes: Int64 = 0
    while let batch = hashes.takeAll() {
      for hash in batch {
        // A request may have looked for it just before it was there.
        let isMade = folder.status(of: folder.png(of: hash)) != nil
        if !isMade, !hashes.isEnding, let bytes = makePNG(of: hash) {
          kept.append((hash, bytes))
          keptBytes += bytes
        }
        let exists = folder.status(of: folder.stored(hash)) != nil
        answer(exists, waiting.withLock { $0.removeValue(forKey: hash) } ?? [])
        while keptBytes > keptLimitBytes, let oldest = kept.popFirst() {
          folder.remove(folder.png(of: oldest.hash))
          keptBytes -= oldest.bytes
        }
      }
    }
  }

  /// Lets `run` return once it has answered. Thread-safe.
  func stop() { hashes.close() }

  /// - Returns: its size; `nil` if there is none.
  private func makePNG(of hash: String) -> Int64? {
    let (thumbnail, png) = (folder.stored(hash), folder.png(of: hash))
    let draft = "\(png).new"
    defer { folder.remove(draft) }
    guard (try? PrivateFiles.createFolder(folder.pngs)) != nil,
      processor.convertToPNG(thumbnail, into: draft), unsafe rename(draft, png) == 0
    else { return nil }
    // If the file was removed in the meantime, its PNG was looked for before it was there.
    guard folder.status(of: thumbnail) != nil else {
      folder.remove(png)
      return nil
    }
    return folder.status(of: png)?.size
  }
}
