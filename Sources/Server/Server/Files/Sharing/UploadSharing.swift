import Gateway
import ObjectStorage
import Platform
import Wire

/// Uploads that are not complete, as objects that all relays reach, so that an upload goes on at another relay.
///
/// What a client was told of its upload is in the bucket. A relay that gets a request for an upload of another one claims it: it
/// puts its claim, and lists the parts after that. A relay tells a client what it has shared only if it finds no greater claim
/// after its last part was put. So either the one that goes on finds the part, or the one before finds the claim, and tells nothing:
/// a relay that was frozen in between cannot add to an upload that goes on elsewhere.
///
/// Confined to a thread of its own; every call blocks.
struct UploadSharing {
  enum Failure: Error {
    /// Another relay goes on with the upload, or has completed it.
    case superseded
    case failed(FileBytesError)

    init(_ error: StorageError) {
      self = error.kind == .missing ? .superseded : .failed(FileBytesError(error))
    }
  }

  struct Holding {
    var place: SharedUpload.Place
    var claim: UploadClaim
    /// That of the table's entry.
    var generation: Int
    /// The parts that others had put before.
    var base: [SharedPart]
    var own: [SharedPart] = []

    /// What is to be removed, since a longer part has its bytes.
    var replaced: [SharedPart] = []

    var end: Int64 { (own.last ?? base.last)?.range.upperBound ?? 0 }
  }

  /// The bytes that are in memory at once, and at most lost of a request whose relay is killed.
  static let partBytes: Int64 = 4 << 20
  private static let writerBytes = 8
  private static let namesAtOnce = 1000
  private static let sweepMilliseconds: Int64 = 3_600_000

  private let storage: any ObjectStorage
  private let folder: FileFolder
  private(set) var holdings: [String: Holding] = [:]
  /// Where the search for expired uploads goes on; `nil` = it rests.
  private var sweptTo: String?
  private var sweptAt: Int64 = 0

  /// - Parameter folder: that of the uploads, whose bytes are shared.
  init(_ storage: any ObjectStorage, _ folder: FileFolder) {
    (self.storage, self.folder) = (storage, folder)
  }

  // MARK: - Sharing

  /// Shares an upload as far as it is on disk.
  /// - Returns: how far it is shared.
  mutating func share(_ state: UploadTable.SharingState) throws(Failure) -> Int64 {
    var holding: Holding
    if let held = holdings[state.id], held.generation == state.generation {
      holding = held
    } else if state.isNew {
      holding = Holding(
        place: .init(id: state.id, expiresAt: state.record.expiresAt),
        claim: UploadClaim(number: 0, writer: RandomName.next(bytes: Self.writerBytes)),
        generation: state.generation, base: [])
      try put(state.record.json, as: holding.place.record)
    } else {
      throw .superseded
    }
    holdings[state.id] = holding
    while holding.end < state.offset {
      try putPart(of: &holding, upTo: state.offset)
      holdings[state.id] = holding
    }
    try check(holding)
    for part in holding.replaced {
      // One that stays is no harm.
      try? storage.delete(holding.place.name(of: part))
    }
    holdings[state.id]?.replaced = []
    return holding.end
  }

  /// Puts the next part. Small ones before are put again with it, as long as each becomes twice as long: so an upload has a few
  /// objects, however small the requests are that it comes in.
  private func putPart(of holding: inout Holding, upTo limit: Int64) throws(Failure) {
    let end = min(limit, holding.end + Self.partBytes)
    var start = holding.end
    var kept = holding.own
    while let last = kept.last, Int64(last.range.count) <= end - start,
      end - last.range.lowerBound <= Self.partBytes
    {
      start = last.range.lowerBound
      kept.removeLast()
    }
    let part = SharedPart(
      claim: holding.claim, range: start..<end,
      parent: (kept.last ?? holding.base.last)?.claim.writer ?? SharedUpload.noWriter)
    let bytes: [UInt8]
    do throws(SystemError) {
      let path = folder.upload(holding.place.id)
      bytes = try folder.disk.read(path, at: start, bytes: part.range.count).bytes
    } catch {
      throw .failed(FileBytesError(error))
    }
    // The table has removed it meanwhile.
    guard bytes.count == part.range.count else { throw .superseded }
    try put(bytes, as: holding.place.name(of: part))
    holding.replaced += holding.own[kept.count...]
    holding.own = kept + [part]
  }

  /// Throws unless this relay still has the greatest claim. Asked after its last part was put.
  private mutating func check(_ holding: Holding) throws(Failure) {
    let place = holding.place
    let next = try attempt { () throws(StorageError) in
      try storage.names(
        startingWith: place.prefix, after: place.end(of: holding.claim), limit: 1)
    }
    guard next == [place.record] else {
      holdings[place.id] = nil
      throw .superseded
    }
  }

  // MARK: - Going on

  /// Finds an upload, and claims it if that is wanted.
  mutating func open(_ opening: UploadTable.Opening, now: Int64) throws(Failure) -> SharedFinding {
    if let held = opening.held, holdings[opening.id]?.generation == held.generation {
      do throws(Failure) { return .held(try share(held)) } catch {
        guard case .superseded = error else { throw error }
      }
    }
    holdings[opening.id] = nil
    guard let found = try find(opening.id), found.record.user == opening.user,
      found.record.expiresAt > now
    else { return .nothing }
    guard opening.claims else {
      return .elsewhere(
        found.record.upload(opening.id, offset: found.path.last?.range.upperBound ?? 0))
    }
    let number = (found.claims.map(\.number).max() ?? 0) + 1
    // An upload that goes from relay to relay all the time begins again.
    guard number < SharedUpload.claimsLimit else { return .nothing }
    let claim = UploadClaim(
      number: number, writer: RandomName.next(bytes: Self.writerBytes))
    try put([], as: found.place.name(of: claim))
    guard let base = try shared(opening.id)?.path else { return .nothing }
    let holding = Holding(
      place: found.place, claim: claim, generation: opening.generation, base: base)
    holdings[opening.id] = holding
    return .claimed(found.record, offset: holding.end)
  }

  private func find(
    _ id: String
  ) throws(Failure) -> (
    place: SharedUpload.Place, record: UploadRecord, claims: Set<UploadClaim>, path: [SharedPart]
  )? {
    guard let upload = try shared(id), let path = upload.path else { return nil }
    do throws(StorageError) {
      guard let record = UploadRecord(json: try storage.get(upload.place.record, nil)) else {
        return nil
      }
      return (upload.place, record, upload.claims, path)
    } catch {
      if error.kind == .missing { return nil }
      throw Failure(error)
    }
  }

  private func shared(_ id: String) throws(Failure) -> SharedUpload? {
    SharedUpload(names: try names(of: id))
  }

  private func names(of id: String) throws(Failure) -> [String] {
    var names: [String] = []
    while true {
      let page = try attempt { () throws(StorageError) in
        try storage.names(
          startingWith: "\(id).", after: names.last ?? "", limit: Self.namesAtOnce)
      }
      if page.isEmpty { return names }
      names += page
    }
  }

  /// Writes the bytes that others have shared into the file of an upload, which is complete then.
  mutating func assemble(_ id: String, generation: Int) throws(Failure) {
    guard let holding = holdings[id], holding.generation == generation else { throw .superseded }
    try check(holding)
    for part in holding.base {
      let bytes = try attempt { () throws(StorageError) in
        try storage.get(holding.place.name(of: part), nil)
      }
      guard bytes.count == part.range.count else { throw .superseded }
      do throws(SystemError) {
        try folder.disk.write(bytes, to: folder.upload(id), at: part.range.lowerBound)
      } catch {
        throw .failed(FileBytesError(error))
      }
    }
  }

  // MARK: - Ends

  /// The table has not taken an upload that was claimed.
  mutating func release(_ id: String, generation: Int) {
    if holdings[id]?.generation == generation { holdings[id] = nil }
  }

  /// Removes what is shared of an upload. The record goes first: without it there is no upload.
  mutating func discard(_ id: String) throws(Failure) {
    holdings[id] = nil
    let names = try names(of: id)
    let record = SharedUpload(names: names)?.place.record
    for name in [record].compactMap(\.self) + names.filter({ $0 != record }) {
      try attempt { () throws(StorageError) in try storage.delete(name) }
    }
  }

  /// - Returns: whether there was such an upload of the user.
  mutating func terminate(_ id: String, user: String) throws(Failure) -> Bool {
    guard let found = try find(id), found.record.user == user else { return false }
    try discard(id)
    return true
  }

  /// Removes some objects of uploads that have expired; all of them once an hour.
  mutating func sweep(now: Int64) throws(Failure) {
    if sweptTo == nil {
      guard now - sweptAt >= Self.sweepMilliseconds || now < sweptAt else { return }
      sweptAt = now
    }
    let place = sweptTo ?? ""
    // The next search finds what this one leaves.
    sweptTo = nil
    let names = try attempt { () throws(StorageError) in
      try storage.names(startingWith: "", after: place, limit: Self.namesAtOnce)
    }
    for name in names {
      guard let (upload, _) = SharedUpload.Place.read(name), upload.expiresAt <= now else {
        continue
      }
      try attempt { () throws(StorageError) in try storage.delete(name) }
    }
    sweptTo = names.last
  }

  private func put(_ bytes: [UInt8], as name: String) throws(Failure) {
    try attempt { () throws(StorageError) in try storage.put(bytes, as: name) }
  }

  private func attempt<Value>(
    _ body: () throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    do throws(StorageError) { return try body() } catch { throw Failure(error) }
  }
}

/// What the bucket has of an upload.
enum SharedFinding: Sendable {
  /// This relay still has the upload, and it is shared up to there.
  case held(Int64)
  /// As other relays have shared it.
  case elsewhere(Upload)
  /// This relay goes on with it.
  case claimed(UploadRecord, offset: Int64)
  /// There is none of this user.
  case nothing
}
