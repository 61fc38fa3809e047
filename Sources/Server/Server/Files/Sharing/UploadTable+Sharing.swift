import Gateway
import Platform
import Relay
import Wire

/// Uploads that other relays can go on with: what the table asks of `UploadSharing`, and what it does with the answers.
///
/// No client is told of a byte that is not shared. An upload that is complete with its first request is never shared: its client
/// does not know of it before.
extension UploadTable {
  /// An upload of this table, as far as it is to be shared.
  struct SharingState: Sendable {
    var id: String
    var record: UploadRecord
    var generation: Int
    var offset: Int64
    /// Nothing of it is shared yet.
    var isNew: Bool
  }

  /// A request about an upload that another relay may go on with.
  struct Opening: Sendable {
    var id: String
    var user: String
    /// What this relay has of it.
    var held: SharingState?
    /// Whether this relay is to go on with it, as this generation.
    var claims: Bool
    var generation: Int
    var work: FileWork
    var asker: Asker
  }

  /// Requests that wait for the bucket; more are refused. One that does not answer must not fill the memory.
  static let openingsLimit = 1024

  mutating func nextGeneration() -> Int {
    lastGeneration += 1
    return lastGeneration
  }

  // MARK: - Questions

  /// Asks the bucket about the upload of a request.
  /// - Returns: `false` if there is nothing to ask.
  mutating func ask(about work: FileWork, for asker: Asker) -> Bool {
    switch work {
    case .find(let id, let user): open(id, of: user, claims: false, work, asker)
    case .begin(let id, let user, _, _, _): open(id, of: user, claims: true, work, asker)
    case .terminate(let id, let user): terminate(id, of: user, asker)
    default: false
    }
  }

  private mutating func open(
    _ id: String, of user: String, claims: Bool, _ work: FileWork, _ asker: Asker
  ) -> Bool {
    // Ids are parts of the names of objects.
    guard FileContent.isValid(id: id) else { return false }
    let entry = entries[id]
    // An upload in its first request is known to this relay alone, and one that is being placed is complete.
    if let entry, entry.user != user || entry.shared == nil || !entry.isReceiving { return false }
    let opening = Opening(
      id: id, user: user, held: entry.map { state(of: $0) }, claims: claims,
      generation: nextGeneration(), work: work, asker: asker)
    order(.open(opening), for: asker)
    return true
  }

  private mutating func terminate(_ id: String, of user: String, _ asker: Asker) -> Bool {
    guard FileContent.isValid(id: id) else { return false }
    if let entry = entries[id] {
      if case .placing = entry.phase { return false }
      if entry.user != user || !entry.isKnownToOthers { return false }
    }
    drop(id)
    order(.terminate(id, user: user, asker), for: asker)
    return true
  }

  private mutating func order(_ order: SharingOrder, for asker: Asker) {
    guard openings < Self.openingsLimit else {
      answers.append((asker, .refused(.failed)))
      return
    }
    openings += 1
    sharingOrders.append(order)
  }

  // MARK: - Sharing

  private func state(of entry: Entry) -> SharingState {
    SharingState(
      id: entry.upload.id, record: entry.record, generation: entry.generation,
      offset: entry.upload.offset, isNew: entry.shared == nil)
  }

  /// Shares all of an upload.
  /// - Parameter asker: is told how far it is then.
  mutating func share(_ id: String, for asker: Asker? = nil) {
    guard let entry = entries[id] else { return }
    entries[id]?.isBeingShared = true
    sharingOrders.append(.share(state(of: entry), asker))
  }

  /// Shares what has come of an upload, if that is as much as a part has.
  mutating func shareIfDue(_ id: String) {
    guard let entry = entries[id], let shared = entry.shared, !entry.isBeingShared,
      entry.isReceiving, entry.upload.offset - shared >= UploadSharing.partBytes
    else { return }
    share(id)
  }

  /// Shares what a request has left that broke off.
  mutating func shareRest(_ entry: Entry, _ id: String) {
    if let shared = entry.shared, shared < entry.upload.offset { share(id) }
  }

  // MARK: - Answers

  mutating func take(_ answer: SharingAnswer, now: Int64) {
    switch answer {
    case .shared(let state, let asker, let result): take(result, of: state, for: asker)
    case .opened(let opening, let result):
      openings -= 1
      let answer: FileWorkResult?
      switch result {
      case .success(let finding): answer = take(finding, opening, now)
      case .failure(let refusal): answer = .refused(refusal)
      }
      if let answer { answers.append((opening.asker, answer)) }
    case .assembled(let id, nil):
      guard var entry = entries[id] else { return }
      entry.localFrom = 0
      set(id, to: entry)
      orders.append(.place(id, user: entry.user))
    case .assembled(let id, let refusal?):
      take(.failure(refusal), of: id)
      if refusal == .superseded { drop(id) }
    case .terminated(let asker, let result):
      openings -= 1
      answers.append((asker, result))
    }
  }

  private mutating func take(
    _ result: Result<Int64, FileRefusal>, of state: SharingState, for asker: Asker?
  ) {
    var answer = FileWorkResult.refused(.superseded)
    if var entry = entries[state.id], entry.generation == state.generation {
      entry.isBeingShared = false
      if case .success(let offset) = result { entry.shared = offset }
      entries[state.id] = entry
      switch result {
      case .success:
        answer = .upload(entry.toldUpload)
        shareIfDue(state.id)
      case .failure(.superseded): if entry.isReceiving { drop(state.id) }
      case .failure(let refusal): answer = .refused(refusal)
      }
    }
    if let asker { answers.append((asker, answer)) }
  }

  private mutating func take(
    _ finding: SharedFinding, _ opening: Opening, _ now: Int64
  ) -> FileWorkResult? {
    let id = opening.id
    if case .held(let offset) = finding {
      if entries[id]?.generation == opening.held?.generation { entries[id]?.shared = offset }
      return performHere(opening.work, for: opening.asker, now: now)
    }
    // What another thread reads of the upload must not change.
    if let entry = entries[id], !entry.isReceiving {
      if case .claimed = finding { release(opening) }
      return .refused(.superseded)
    }
    drop(id)
    switch finding {
    case .held, .nothing: return .nothing
    case .elsewhere(let upload): return .upload(upload)
    case .claimed(let record, let offset):
      do throws(FileRefusal) { try goOn(with: record, at: offset, opening) } catch {
        release(opening)
        return .refused(error)
      }
      return performHere(opening.work, for: opening.asker, now: now)
    }
  }

  private mutating func release(_ opening: Opening) {
    sharingOrders.append(.release(opening.id, generation: opening.generation))
  }

  /// The file of the upload begins with a hole: its bytes are only needed once all are there.
  private mutating func goOn(
    with record: UploadRecord, at offset: Int64, _ opening: Opening
  ) throws(FileRefusal) {
    try checkLimits(record.user, record.bytes, 0)
    let path = folder.upload(opening.id)
    try writing { () throws(SystemError) in
      try folder.prepare()
      try folder.disk.write([], to: path)
      try folder.disk.truncate(path, to: offset)
    }
    var entry = Entry(user: record.user, upload: record.upload(opening.id, offset: offset))
    (entry.shared, entry.localFrom) = (offset, offset)
    entry.generation = opening.generation
    insert(entry)
  }
}

extension UploadTable.Entry {
  /// Whether there may be something of it in the bucket.
  var isKnownToOthers: Bool { shared != nil || isBeingShared }
}
