internal import Gateway
internal import Relay
internal import Server
internal import TLS
internal import WebSocket
internal import Wire

/// The relay's files: the steps of the threads that keep their bytes, what an operator does to them, and the checks.
extension Simulation {
  /// Returns what keeps the bytes for the next process; `nil` if the relay keeps no files.
  func openFiles() -> SimulatedFiles? {
    guard let allowed = scenario.files else { return nil }
    var options = UploadTable.Options()
    options.bytesPerUser = allowed.bytesPerUser
    options.uploadsPerUser = allowed.uploadsPerUser
    let files = SimulatedFiles(
      disk, isTemporary: scenario.store == .memory, options, seed: random.next())
    files.onRemoved = { [unowned referee] hashes, old in
      referee.tally.count(.bytesRemoved, hashes.count)
      referee.tally.count(.leftoverFound, old.count)
    }
    return files
  }

  /// What the relay of a scenario says of files.
  var fileSettings: FileSettings? {
    scenario.files.map {
      FileSettings(limitBytes: Scenario.Files.limitBytes, bytesPerSecond: $0.bytesPerSecond) {
        SHA256Digest.code(of: $0, key: [1])
      }
    }
  }

  static func checksum(of bytes: [UInt8]) -> String { Base64.encode(SHA256Digest.of(bytes)) }

  // MARK: - Steps

  /// Schedules a step of each thread that has something to do.
  func scheduleFiles() {
    guard let files = relay?.files else { return }
    for thread in SimulatedFiles.Thread.allCases
    where files.count(thread) > 0 && files.scheduled.insert(thread).inserted {
      schedule(.files(life: life, thread), in: chance(90) ? pick(0...3) : pick(0...40))
    }
  }

  func takeFileStep(_ thread: SimulatedFiles.Thread) {
    guard let files = relay?.files else { return }
    files.scheduled.remove(thread)
    let count = Int.random(in: 1...max(1, files.count(thread)), using: &random)
    deliver(files.step(thread, count, now: now.wall))
  }

  func tidyFiles() {
    guard let files = relay?.files else { return }
    schedule(.fileTidying(life: life), in: SimulatedFiles.tidyMilliseconds)
    deliver(files.tidy(now: now.wall))
  }

  private func deliver(_ answers: [SimulatedFiles.Answer]) {
    if disk.isDead { return die() }
    for (asker, result) in answers {
      relay?.post(.files(result, asker.worker), to: asker.loop)
      wake(loop: asker.loop, in: 0)
    }
    scheduleFiles()
  }

  // MARK: - An operator

  /// The user whose entries are erased at times: one who only uploads.
  static let erasedUser = "uf"

  /// Erases what a user has sent to the attic, or deletes the attic.
  func operate() {
    guard !isRepaired else { return }
    schedule(.operation, in: pick(500...4000))
    guard let relay else { return }
    let attic = referee.files.attic
    let order = LogRequest.Order(
      by: "operator",
      origin: .init(session: SessionID(index: 0, generation: .max), re: .erase, ref: nil))
    if chance(40) {
      referee.tally.count(.roomDeleted)
      referee.files.deleteAttic()
      orders.append(.deleteRoom(attic, order))
    } else {
      let head = (try? relay.log.contents(of: [attic]))?[attic]?.entries ?? []
      for entry in head where entry.from == Self.erasedUser {
        orders.append(
          .erase(.init(user: Self.erasedUser, room: attic, seq: entry.seq), order))
      }
      referee.tally.count(.userErased)
      referee.files.recordSetback()
      orders.append(.erase(.init(user: Self.erasedUser), order))
    }
  }

  // MARK: - Checks

  /// Returns the places of each file that a commit's entries name, before the commit.
  func placesOfFiles(in commit: Commit) -> [String: [FileModel.Place]] {
    guard scenario.files != nil else { return [:] }
    var places: [String: [FileModel.Place]] = [:]
    for span in commit.spans {
      for index in span.frames {
        let json = Array(commit.frames.payload(index))
        guard let id = (try? Entry(decoding: json.span))?.file?.id, places[id] == nil else {
          continue
        }
        places[id] = referee.ledger.places(ofFile: id)
      }
    }
    return places
  }

  /// Checks that the users who have sent entries with files may do so.
  func checkNamed(_ entries: [Entry], _ places: [String: [FileModel.Place]]) {
    for entry in entries {
      referee.tally.count(.fileNamed)
      if !referee.files.mayName(entry, places[entry.file?.id ?? ""] ?? [], referee) {
        referee.fault(
          "\(entry.room) \(entry.seq) names \(entry.file?.id ?? ""), which is not for \(entry.from) to send"
        )
      }
    }
  }

  /// Checks that the files of all kept entries have their bytes, and that each user's files add up.
  func examineFiles(_ log: any SimulatedLog) {
    guard scenario.files != nil else { return }
    do throws(StoreFailure) {
      let contents = try log.contents(of: Self.watchedRooms + referee.files.attics)
      let entries = contents.sorted { $0.key < $1.key }.flatMap(\.value.entries).filter {
        $0.kind == .file && !$0.isDeleted
      }
      let kept = try log.files(
        KeptFiles.Question(
          ids: Set(entries.compactMap(\.file?.id)),
          users: Set(clients.map(\.user)).filter { $0.hasPrefix("u") }.sorted(), hashes: []))
      let faults = referee.files.faults(
        kept, entries: entries, mayHaveLost: mayHaveLost, bytes: { self.bytes(of: $0) },
        digest: { SHA256Digest.hex(SHA256Digest.of($0)) })
      for fault in faults { referee.fault("files: \(fault)") }
    } catch {
      referee.fault("the files of the store cannot be read after a start: \(error)")
    }
  }

  private func bytes(of hash: String) -> [UInt8]? {
    disk.file("\(SimulatedFiles.folder)/\(hash.prefix(2))/\(hash)")?.content
  }

  /// Checks, once nothing is uploaded any more and nothing fails, that what no entry names is gone: after three seconds what
  /// the log has given up, and after a day the rest.
  func endFiles() {
    guard scenario.files != nil else { return }
    isOver = true
    play(until: now.monotonic + 3000)
    guard referee.faults.isEmpty, let log = relay?.log else { return }
    examineFiles(log)
    let unused = Set(kept(log)?.unused ?? []).subtracting(underWay)
    if !unused.isEmpty {
      referee.fault("files: the bytes \(unused.sorted()) were not removed within 3 seconds")
    }
    // Longer than a day, by whatever the clock may have jumped.
    disturb(for: 4 * StoredFile.unsentMilliseconds)
    sleep(milliseconds: 4 * StoredFile.unsentMilliseconds)
    play(until: now.monotonic + 300_000) { !self.isClean(log) }
    guard referee.faults.isEmpty, !isClean(log) else { return }
    let unsent = kept(log)?.unsent.map(\.id) ?? []
    referee.fault(
      "files: after days, \(unsent) are in the log and \(unnamed(log)) on the disk, which no entry names"
    )
  }

  private func kept(_ log: any SimulatedLog) -> KeptFiles? {
    try? log.files(KeptFiles.Question(ids: [], users: [], hashes: storedNames))
  }

  /// All names in the folders of stored bytes.
  private var storedNames: [String] {
    disk.names(in: SimulatedFiles.folder).filter { $0.utf8.count == 2 }.flatMap {
      disk.names(in: "\(SimulatedFiles.folder)/\($0)")
    }
  }

  /// The hashes of uploads that no client goes on with: what they have in common with files stays until they expire.
  private var underWay: Set<String> {
    let folder = "\(SimulatedFiles.folder)/uploads"
    let contents = disk.names(in: folder).compactMap { disk.file("\(folder)/\($0)")?.content }
    return Set(
      contents.flatMap {
        [$0, SimulatedPictures.served($0)] + (SimulatedPictures.thumbnail($0).map { [$0] } ?? [])
      }.map { SHA256Digest.hex(SHA256Digest.of($0)) })
  }

  private func unnamed(_ log: any SimulatedLog) -> [String] {
    let used = kept(log)?.used ?? []
    return storedNames.filter { !used.contains($0) }
      + disk.names(in: "\(SimulatedFiles.folder)/uploads")
  }

  private func isClean(_ log: any SimulatedLog) -> Bool {
    unnamed(log).isEmpty && kept(log)?.unsent.isEmpty == true
  }
}
