internal import Client
internal import Glibc
internal import Platform
internal import TLS
internal import Wire

/// Checks what a relay has after a run with files: each acknowledged file is served with its bytes to another user, and
/// its folder has the bytes that entries name, and no others.
struct FileOracle {
  private static let user = "oracle"
  /// A round of the relay's upkeep takes a second.
  private static let upkeepMilliseconds = 20_000

  private let plan: FilePlan
  private let requests: FileRequests
  private let data: String
  private var progress: [Int: FileJournal.Progress] = [:]

  init(_ plan: FilePlan, _ relay: SpawnedRelay) throws {
    self.plan = plan
    data = relay.dataFolder
    requests = FileRequests(url: try RelayURL(inClear: relay.url), user: Self.user)
  }

  mutating func take(_ journal: FileJournal) {
    progress.merge(journal.uploads) { _, new in new }
  }

  func check(_ report: inout FileReport) throws {
    let entries = try namedFiles(&report)
    var kept: [FilePlan.Upload] = []
    for upload in plan.uploads {
      guard let known = progress[upload.number], known.seq != nil, let file = known.file else {
        report.add("\(upload.entry) was never acknowledged")
        continue
      }
      report.acknowledged += 1
      if known.creations > 1 { report.add("\(upload.entry) began \(known.creations) times") }
      if upload.isDeleted {
        report.deleted += 1
        let status = try requests.status(of: file)
        if status != 404 {
          report.add("\(upload.entry) was deleted, and is answered with \(status)")
        }
        if entries[upload.entry] != nil {
          report.add("\(upload.entry) was deleted, and has a file")
        }
      } else if entries[upload.entry] == file {
        kept.append(upload)
      } else {
        report.add("\(upload.entry) is acknowledged, and the room has no such entry with its file")
      }
    }
    try download(kept, &report)
    try checkFolder(Set(kept.map(\.hash)), &report)
    if Double(report.sentBytes) > 1.1 * Double(plan.bytes) {
      report.add("clients have sent \(report.sentRatio) times the bytes of their files")
    }
  }

  /// Returns the files of the room by the ids of their entries.
  private func namedFiles(_ report: inout FileReport) throws -> [String: String] {
    var files: [String: String] = [:]
    for entry in try requests.entries(of: FilePersona.room) {
      guard let id = entry["id"]?.string, let file = entry["file"]?.string else { continue }
      if files.updateValue(file, forKey: id) != nil { report.add("\(id) is in the room twice") }
    }
    return files
  }

  private func download(_ uploads: [FilePlan.Upload], _ report: inout FileReport) throws {
    let transfers = try FileTransfers()
    var running: [FileTransfers.ID: FilePlan.Upload] = [:]
    for upload in uploads {
      guard let file = progress[upload.number]?.file else { continue }
      let id = transfers.download(
        file, to: path(of: upload), limitBytes: Int64(upload.bytes), as: requests.configuration)
      running[id] = upload
    }
    while !running.isEmpty {
      var wanted = pollfd(fd: transfers.descriptor, events: Int16(POLLIN), revents: 0)
      unsafe poll(&wanted, 1, -1)
      for event in transfers.takeEvents() {
        switch event {
        case .downloaded(let id):
          guard let upload = running.removeValue(forKey: id) else { continue }
          let content = try WholeFile.read(path(of: upload), limitBytes: upload.bytes)
          unsafe unlink(path(of: upload))
          guard SHA256Digest.hex(SHA256Digest.of(content)) == upload.hash else {
            report.add("\(upload.entry) is served with other bytes")
            continue
          }
          report.served += 1
        case .failed(let id, let reason):
          guard let upload = running.removeValue(forKey: id) else { continue }
          report.add("\(upload.entry) is not served: \(reason)")
        default: break
        }
      }
    }
  }

  private func path(of upload: FilePlan.Upload) -> String { "\(data)/\(upload.number).read" }

  /// Waits for the relay's upkeep, and compares the folder.
  private func checkFolder(_ expected: Set<String>, _ report: inout FileReport) throws {
    let deadline = Instant.now().adding(milliseconds: Self.upkeepMilliseconds)
    var (stored, uploads) = try folder()
    while stored != expected || !uploads.isEmpty, deadline.milliseconds(since: .now()) > 0 {
      usleep(100_000)
      (stored, uploads) = try folder()
    }
    report.stored = stored.count
    if stored != expected {
      report.add(
        "of the stored bytes \(stored.subtracting(expected).count) are named by no entry,"
          + " and \(expected.subtracting(stored).count) are missing")
    }
    if !uploads.isEmpty {
      report.add(
        "\(uploads.count) uploads are still on the disk that are complete, or that no client goes on with"
      )
    }
  }

  /// Whether an upload should be gone. Of one that was created when a process was killed, before its client could
  /// write its id down, there are no bytes, and the relay removes it after a day.
  private func isLeftOver(_ name: String) throws -> Bool {
    if name.hasSuffix(".json") { return false }
    let isKnown = progress.values.contains { $0.file == name }
    return try isKnown || !WholeFile.read("\(data)/files/uploads/\(name)").isEmpty
  }

  private func folder() throws -> (stored: Set<String>, uploads: [String]) {
    let files = "\(data)/files"
    let folders = try Folder.entries(of: files).filter(\.isFolder).map(\.name)
    var stored: Set<String> = []
    for name in folders where name.utf8.count == 2 {
      stored.formUnion(try Folder.entries(of: "\(files)/\(name)").map(\.name))
    }
    let uploads = try Folder.entries(of: "\(files)/uploads").map(\.name)
    return (stored, try uploads.filter { try isLeftOver($0) })
  }
}
