import DequeModule
import Platform
import Synchronization

/// Makes PNGs of thumbnails when they are requested, for clients that cannot show WebP.
///
/// Its thread converts one at a time, since each takes a process, and users take turns; a request whose thumbnail was converted
/// for an earlier one gets that, and one whose thumbnail cannot be converted is refused with all that wait for it. The PNGs
/// are in a folder of limited size: the oldest go, and are made again if they are requested again. Where other relays may
/// remove the thumbnail, each goes some seconds after it was made, since nothing tells this one.
final class ThumbnailConverter<Request: Sendable>: Sendable {
  private struct Item: Sendable {
    var hash: String
    var user: String
    var request: Request
  }

  /// How many requests of a user wait; further ones are refused. A conversion takes some hundredths of a second.
  let waitingLimit: Int
  let keptLimitBytes: Int64
  private let folder: FileFolder
  private let bytes: any FileBytes
  private let processor: any FileProcessor
  /// None of 640 by 640 pixels is larger.
  private static var thumbnailLimitBytes: Int { 4 << 20 }
  /// How long a PNG is kept where other relays may remove the thumbnail: a client reads it in several parts.
  let sharedMilliseconds: Int
  /// The number of requests by user.
  private let waiting = Mutex<[String: Int]>([:])
  private let items = WorkQueue<Item>()

  init(
    _ folder: FileFolder, _ bytes: any FileBytes, _ processor: any FileProcessor,
    waitingLimit: Int = 64, keptLimitBytes: Int64 = 64 << 20, sharedMilliseconds: Int = 10_000
  ) {
    (self.folder, self.bytes, self.processor) = (folder, bytes, processor)
    (self.waitingLimit, self.keptLimitBytes) = (waitingLimit, keptLimitBytes)
    self.sharedMilliseconds = sharedMilliseconds
  }

  /// Lets a request wait for the PNG of a thumbnail. Thread-safe.
  /// - Returns: `false` if too many of the user wait.
  func convert(_ hash: String, for request: Request, of user: String) -> Bool {
    waiting.withLock { waiting in
      guard waiting[user, default: 0] < waitingLimit else { return false }
      waiting[user, default: 0] += 1
      items.append(Item(hash: hash, user: user, request: request))
      return true
    }
  }

  /// Converts until `stop` is called.
  /// - Parameter answer: called once a PNG is made, or cannot be, with whether the thumbnail exists, and a request for it.
  func run(_ answer: (_ exists: Bool, Request) -> Void) {
    // Those of an earlier relay: nothing else has to know of them.
    folder.clear(folder.pngs)
    var kept: Deque<(hash: String, bytes: Int64, madeAt: Instant)> = []
    var keptBytes: Int64 = 0
    var turns = Turns<Item>()
    while true {
      let rest = kept.first.flatMap { restMilliseconds(madeAt: $0.madeAt, .now()) }
      let batch = items.takeAll(timeoutMilliseconds: turns.isEmpty ? rest : 0)
      for item in batch ?? [] { turns.add(item, of: item.user) }
      if batch == nil, turns.isEmpty { return }
      let now = Instant.now()
      if let item = turns.next() {
        let isMade = folder.status(of: folder.png(of: item.hash)) != nil
        let madeBytes = isMade || items.isEnding ? nil : makePNG(of: item.hash)
        if let madeBytes {
          kept.append((item.hash, madeBytes, now))
          keptBytes += madeBytes
        }
        var answered = [item]
        var isThere = isMade || madeBytes != nil
        if !isThere {
          // A conversion that fails may have taken seconds: it was not only for the first that waits.
          let late = items.takeAll(timeoutMilliseconds: 0) ?? []
          for item in late { turns.add(item, of: item.user) }
          answered += turns.remove { $0.hash == item.hash }
          isThere = exists(item.hash)
        }
        for item in answered {
          leave(item.user)
          answer(isThere, item.request)
        }
      }
      while let oldest = kept.first,
        keptBytes > keptLimitBytes || restMilliseconds(madeAt: oldest.madeAt, now) == 0
      {
        kept.removeFirst()
        folder.remove(folder.png(of: oldest.hash))
        keptBytes -= oldest.bytes
      }
    }
  }

  /// Returns for how long a PNG is kept yet; `nil` = until there are too many.
  private func restMilliseconds(madeAt: Instant, _ now: Instant) -> Int? {
    bytes.isShared ? max(0, sharedMilliseconds - Int(now.milliseconds(since: madeAt))) : nil
  }

  /// Lets `run` return once it has answered. Thread-safe.
  func stop() { items.close() }

  private func leave(_ user: String) {
    waiting.withLock {
      let count = $0[user, default: 1] - 1
      $0[user] = count > 0 ? count : nil
    }
  }

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
