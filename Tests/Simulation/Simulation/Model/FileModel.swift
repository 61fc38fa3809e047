internal import Relay
internal import Wire

/// What is known of files apart from the entries that name them, which are in the ledger.
final class FileModel {
  /// A place of the ledger where a file is named.
  struct Place {
    var room: String
    var seq: Int64
  }

  struct File {
    var owner: String
    /// What its client uploads.
    var content: [UInt8]
  }

  /// Those of which a client has begun the upload, by their ids.
  private(set) var known: [String: File] = [:]
  /// The number of times after which the log may not have what a client was told.
  private(set) var setbacks = 0
  /// Files without bytes: a loss of power has undone their removal in a log whose durability does not cover it.
  private var lost: Set<String> = []
  /// Files that a client has sent to an attic, which is open to all.
  private var inAttic: Set<String> = []
  /// The room whose entries an operator erases, and which they delete. It is not watched.
  private(set) var attics = ["attic1"]

  var attic: String { attics[attics.count - 1] }

  func record(_ id: String, _ file: File) { known[id] = file }
  func recordSent(_ id: String, to room: String) {
    if attics.contains(room) { inAttic.insert(id) }
  }
  func recordSetback() { setbacks += 1 }
  func deleteAttic() { attics.append("attic\(attics.count + 1)") }

  func isLost(_ id: String) -> Bool { lost.contains(id) }

  /// Whether bytes are those that are served of a file, or of one that could not be processed.
  func isServed(_ bytes: [UInt8], of id: String) -> Bool {
    guard let file = known[id] else { return true }
    return bytes == file.content || bytes == SimulatedPictures.served(file.content)
  }

  func isThumbnail(_ bytes: [UInt8], of id: String) -> Bool {
    guard let file = known[id] else { return true }
    return bytes == SimulatedPictures.thumbnail(file.content)
  }

  /// Checks that a user may name a file: they have uploaded it, or may read one of the places that there were
  /// before the commit.
  func mayName(_ entry: Entry, _ places: [Place], _ referee: Referee) -> Bool {
    guard let id = entry.file?.id else { return true }
    if known[id]?.owner == entry.from { return true }
    referee.tally.count(.fileForwarded)
    return mayRead(id, places, by: entry.from, since: referee.ledger.headsBefore, referee)
  }

  /// Whether a user may read one of the places of a file, in some state since the rooms had these heads.
  func mayRead(
    _ id: String, _ places: [Place], by user: String, since heads: [String: Int64],
    _ referee: Referee
  ) -> Bool {
    inAttic.contains(id)
      || places.contains { referee.mayRead($0, by: user, since: heads[$0.room] ?? 0) }
  }

  /// Checks what a store has of files against the entries that it keeps.
  /// - Parameters:
  ///   - bytes: returns the stored bytes with a hash.
  ///   - digest: returns the SHA-256 of bytes.
  /// - Returns: the promises that are broken.
  func faults(
    _ kept: KeptFiles, entries: [Entry], mayHaveLost: Bool,
    bytes: (String) -> [UInt8]?, digest: ([UInt8]) -> String
  ) -> [String] {
    var faults: [String] = []
    var sizes: [String: Int64] = [:]
    for file in kept.unsent { sizes[file.owner, default: 0] += file.countedBytes }
    var checked: Set<String> = []
    func check(_ file: StoredFile, _ place: String) {
      guard checked.insert(file.id).inserted, !lost.contains(file.id) else { return }
      for hash in file.hashes {
        let found = bytes(hash)
        guard let fault = damage(of: file, hash, found, digest) else { continue }
        // What has removed the file from the log is lost, and its bytes were removed after that.
        if mayHaveLost, found == nil {
          lost.insert(file.id)
        } else {
          faults.append("\(place), whose bytes \(fault)")
        }
      }
    }
    for entry in entries {
      guard let content = entry.file, let description = content.description else {
        faults.append("\(entry.room) \(entry.seq) does not say what its file is")
        continue
      }
      sizes[entry.from, default: 0] += StoredFile.countedBytes(ofSize: description.size)
      guard let file = kept.files[content.id] else {
        faults.append("\(entry.room) \(entry.seq) names \(content.id), which the log does not know")
        continue
      }
      if file.description != description {
        faults.append("\(entry.room) \(entry.seq) describes another file than \(content.id)")
      }
      check(file, "\(entry.room) \(entry.seq) names \(file.id)")
    }
    for file in kept.unsent { check(file, "the log knows \(file.id)") }
    for (user, stored) in kept.bytes.sorted(by: { $0.key < $1.key })
    where stored != sizes[user] ?? 0 {
      faults.append("the files of \(user) count \(stored) bytes, and have \(sizes[user] ?? 0)")
    }
    return faults
  }

  private func damage(
    of file: StoredFile, _ hash: String, _ found: [UInt8]?, _ digest: ([UInt8]) -> String
  ) -> String? {
    guard let found else { return "are missing" }
    if digest(found) != hash { return "are damaged" }
    if hash == file.thumbnail {
      return isThumbnail(found, of: file.id) ? nil : "are another thumbnail"
    }
    if Int64(found.count) != file.description.size { return "have another size" }
    return isServed(found, of: file.id) ? nil : "are not those that were uploaded"
  }
}

extension Entry {
  /// The body as its client has sent it: without what the relay says of a file.
  var sentBody: [UInt8] {
    guard kind == .file, var file else { return body }
    file.description = nil
    return file.body
  }
}

extension Ledger {
  /// Returns the kept entries that name a file.
  func places(ofFile id: String) -> [FileModel.Place] {
    rooms.sorted { $0.key < $1.key }.flatMap { name, room in
      room.entries.values.filter { $0.kind == .file && $0.file?.id == id }.map(\.seq).sorted()
        .map { FileModel.Place(room: name, seq: $0) }
    }
  }

  /// Returns the kept entries that name files.
  var fileEntries: [Entry] {
    rooms.sorted { $0.key < $1.key }.flatMap { _, room in
      room.entries.values.filter { $0.kind == .file && !$0.isDeleted }.sorted { $0.seq < $1.seq }
    }
  }
}

extension Referee {
  /// Returns whether a user may read what a place shows, in some state since its room had a head.
  func mayRead(_ place: FileModel.Place, by user: String, since head: Int64) -> Bool {
    RoomName.isOpen(place.room, to: user)
      && ledger.room(place.room).rights.mayRead(place.seq, by: user, since: head, latestWall)
      && ledger.hides(place.seq, in: place.room, from: user) != true
  }
}
