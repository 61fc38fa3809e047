import Gateway
import ObjectStorage
import Platform

/// What the table of uploads asks of `UploadSharing`.
enum SharingOrder: Sendable {
  case share(UploadTable.SharingState, UploadTable.Asker?)
  case open(UploadTable.Opening)
  case assemble(String, generation: Int)
  case terminate(String, user: String, UploadTable.Asker)
  /// Without an answer.
  case discard(String)
  case release(String, generation: Int)
}

enum SharingAnswer: Sendable {
  case shared(UploadTable.SharingState, UploadTable.Asker?, Result<Int64, FileRefusal>)
  case opened(UploadTable.Opening, Result<SharedFinding, FileRefusal>)
  case assembled(String, FileRefusal?)
  case terminated(UploadTable.Asker, FileWorkResult)
}

/// The thread `files-share`, which shares uploads with other relays: neither the loops nor other uploads wait for its requests.
final class UploadSharer: Sendable {
  private static let restMilliseconds = 1000

  private let storage: any ObjectStorage
  private let folder: FileFolder
  private let queue = WorkQueue<SharingOrder>()

  init(_ storage: any ObjectStorage, _ folder: FileFolder) {
    (self.storage, self.folder) = (storage, folder)
  }

  func append(_ order: SharingOrder) { queue.append(order) }

  /// Lets the thread end once all orders are carried out, or one has failed.
  func close() { queue.close() }

  func start(
    _ outage: BytesOutage, answer: @escaping @Sendable (SharingAnswer) -> Void
  ) throws(SystemError) -> WorkerThread {
    try WorkerThread(name: "files-share") { [self] in
      var worker = SharingWorker(uploads: UploadSharing(storage, folder), outage: outage)
      while let orders = queue.takeAll(timeoutMilliseconds: Self.restMilliseconds) {
        for order in orders {
          if let result = worker.carryOut(order, now: WallClock.milliseconds) { answer(result) }
          if worker.isFailing, queue.isEnding { return }
        }
        if !queue.isEnding { worker.sweep(now: WallClock.milliseconds) }
      }
    }
  }
}

/// Carries out orders, one after the other. Confined to a thread.
struct SharingWorker {
  private(set) var uploads: UploadSharing
  private let outage: BytesOutage
  private(set) var isFailing = false

  init(uploads: UploadSharing, outage: BytesOutage) {
    (self.uploads, self.outage) = (uploads, outage)
  }

  mutating func carryOut(_ order: SharingOrder, now: Int64) -> SharingAnswer? {
    switch order {
    case .share(let state, let asker):
      let result = attempt { (uploads) throws(UploadSharing.Failure) in try uploads.share(state) }
      return .shared(state, asker, result)
    case .open(let opening):
      let result = attempt { (uploads) throws(UploadSharing.Failure) in
        try uploads.open(opening, now: now)
      }
      return .opened(opening, result)
    case .assemble(let id, let generation):
      let result = attempt { (uploads) throws(UploadSharing.Failure) in
        try uploads.assemble(id, generation: generation)
      }
      if case .failure(let refusal) = result { return .assembled(id, refusal) }
      return .assembled(id, nil)
    case .terminate(let id, let user, let asker):
      let result = attempt { (uploads) throws(UploadSharing.Failure) in
        try uploads.terminate(id, user: user)
      }
      switch result {
      case .success(let wasThere): return .terminated(asker, wasThere ? .terminated : .nothing)
      case .failure(let refusal): return .terminated(asker, .refused(refusal))
      }
    case .discard(let id):
      // What stays goes when the upload expires.
      _ = attempt { (uploads) throws(UploadSharing.Failure) in try uploads.discard(id) }
      return nil
    case .release(let id, let generation):
      uploads.release(id, generation: generation)
      return nil
    }
  }

  mutating func sweep(now: Int64) {
    _ = attempt { (uploads) throws(UploadSharing.Failure) in try uploads.sweep(now: now) }
  }

  private mutating func attempt<Value>(
    _ body: (inout UploadSharing) throws(UploadSharing.Failure) -> Value
  ) -> Result<Value, FileRefusal> {
    isFailing = false
    do throws(UploadSharing.Failure) {
      let value = try body(&uploads)
      outage.update(nil)
      return .success(value)
    } catch {
      switch error {
      case .superseded: return .failure(.superseded)
      case .failed(let failure):
        isFailing = true
        outage.update(failure)
        return .failure(failure.isFull ? .diskIsFull : .failed)
      }
    }
  }
}
