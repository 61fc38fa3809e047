import Gateway
import ObjectStorage
import Platform

/// What the table of uploads asks of the stage.
enum StageOrder: Sendable {
  case stage(UploadTable.StagedState, UploadTable.Asker?)
  case open(UploadTable.Opening)
  case assemble(String, generation: Int)
  case terminate(String, user: String, UploadTable.Asker)
  /// Without an answer.
  case discard(String)
  case release(String, generation: Int)
}

enum StageAnswer: Sendable {
  case staged(UploadTable.StagedState, UploadTable.Asker?, Result<Int64, FileRefusal>)
  case opened(UploadTable.Opening, Result<StageFinding, FileRefusal>)
  case assembled(String, FileRefusal?)
  case terminated(UploadTable.Asker, FileWorkResult)
}

/// The thread of the stage, `files-stage`: neither the loops nor other uploads wait for its requests.
final class UploadStager: Sendable {
  private static let restMilliseconds = 1000

  private let storage: any ObjectStorage
  private let folder: FileFolder
  private let queue = WorkQueue<StageOrder>()

  init(_ storage: any ObjectStorage, _ folder: FileFolder) {
    (self.storage, self.folder) = (storage, folder)
  }

  func append(_ order: StageOrder) { queue.append(order) }

  /// Lets the thread end once all orders are carried out, or one has failed.
  func close() { queue.close() }

  func start(
    _ outage: BytesOutage, answer: @escaping @Sendable (StageAnswer) -> Void
  ) throws(SystemError) -> WorkerThread {
    try WorkerThread(name: "files-stage") { [self] in
      var worker = StageWorker(stage: UploadStage(storage, folder), outage: outage)
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
struct StageWorker {
  private(set) var stage: UploadStage
  private let outage: BytesOutage
  private(set) var isFailing = false

  init(stage: UploadStage, outage: BytesOutage) { (self.stage, self.outage) = (stage, outage) }

  mutating func carryOut(_ order: StageOrder, now: Int64) -> StageAnswer? {
    switch order {
    case .stage(let state, let asker):
      let result = attempt { (stage) throws(UploadStage.Failure) in try stage.stage(state) }
      return .staged(state, asker, result)
    case .open(let opening):
      let result = attempt { (stage) throws(UploadStage.Failure) in
        try stage.open(opening, now: now)
      }
      return .opened(opening, result)
    case .assemble(let id, let generation):
      let result = attempt { (stage) throws(UploadStage.Failure) in
        try stage.assemble(id, generation: generation)
      }
      if case .failure(let refusal) = result { return .assembled(id, refusal) }
      return .assembled(id, nil)
    case .terminate(let id, let user, let asker):
      let result = attempt { (stage) throws(UploadStage.Failure) in
        try stage.terminate(id, user: user)
      }
      switch result {
      case .success(let wasThere): return .terminated(asker, wasThere ? .terminated : .nothing)
      case .failure(let refusal): return .terminated(asker, .refused(refusal))
      }
    case .discard(let id):
      // What stays goes when the upload expires.
      _ = attempt { (stage) throws(UploadStage.Failure) in try stage.discard(id) }
      return nil
    case .release(let id, let generation):
      stage.release(id, generation: generation)
      return nil
    }
  }

  mutating func sweep(now: Int64) {
    _ = attempt { (stage) throws(UploadStage.Failure) in try stage.sweep(now: now) }
  }

  private mutating func attempt<Value>(
    _ body: (inout UploadStage) throws(UploadStage.Failure) -> Value
  ) -> Result<Value, FileRefusal> {
    isFailing = false
    do throws(UploadStage.Failure) {
      let value = try body(&stage)
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
