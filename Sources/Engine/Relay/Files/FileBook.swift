import Wire

/// The files of a store in memory, and the entries that name them.
struct FileBook: Sendable {
  private struct Place: Hashable, Comparable {
    var room: Int64
    var seq: Int64

    static func < (a: Self, b: Self) -> Bool { (a.room, a.seq) < (b.room, b.seq) }
  }

  private(set) var files: [String: StoredFile] = [:]
  /// The files that entries name, and the senders of these.
  private var named: [Place: (file: String, sender: String)] = [:]
  private var unused: Set<String> = []

  mutating func add(_ file: StoredFile) {
    files[file.id] = file
    unused.subtract(file.hashes)
  }

  mutating func record(_ id: String, sentBy sender: String, room: Int64, seq: Int64) {
    named[Place(room: room, seq: seq)] = (id, sender)
    files[id]?.isSent = true
  }

  /// An entry names its file no more. The last one takes it along.
  mutating func forget(room: Int64, seq: Int64) {
    guard let (id, _) = named.removeValue(forKey: Place(room: room, seq: seq)),
      !named.values.contains(where: { $0.file == id })
    else { return }
    remove(id)
  }

  mutating func forget(room: Int64, before first: Int64) {
    for place in named.keys where place.room == room && place.seq < first {
      forget(room: room, seq: place.seq)
    }
  }

  mutating func expire(_ ids: [String]) {
    for id in ids where files[id]?.isSent == false { remove(id) }
  }

  /// Forgets what a user has uploaded and not sent, and who has uploaded the rest.
  mutating func forget(owner: String) {
    for file in files.values where file.owner == owner {
      if file.isSent { files[file.id]?.owner = "" } else { remove(file.id) }
    }
  }

  mutating func forgetRemoved(_ hashes: [String]) { unused.subtract(hashes) }

  private mutating func remove(_ id: String) {
    guard let file = files.removeValue(forKey: id) else { return }
    unused.formUnion(Set(file.hashes).subtracting(used(among: file.hashes)))
  }

  func places(of id: String) -> [(room: Int64, seq: Int64, sender: String)] {
    var last: [Int64: (seq: Int64, sender: String)] = [:]
    for (place, entry) in named.sorted(by: { $0.key < $1.key }) where entry.file == id {
      last[place.room] = (place.seq, entry.sender)
    }
    return last.sorted { $0.key < $1.key }.prefix(FilePlace.limit).map {
      ($0.key, $0.value.seq, $0.value.sender)
    }
  }

  func bytes(of user: String) -> Int64 {
    let sent = named.values.filter { $0.sender == user }
      .reduce(0) { $0 + (files[$1.file]?.countedBytes ?? 0) }
    return files.values.filter { $0.owner == user && !$0.isSent }
      .reduce(sent) { $0 + $1.countedBytes }
  }

  func unused(limit: Int) -> [String] { Array(unused.sorted().prefix(limit)) }

  func used(among hashes: [String]) -> [String] {
    hashes.filter { hash in files.values.contains { $0.hashes.contains(hash) } }
  }

  func unsent(before at: Int64, limit: Int) -> [String] {
    Array(
      files.values.filter { !$0.isSent && $0.uploadedAt < at }.map(\.id).sorted().prefix(limit))
  }
}

extension MemoryStore {
  public mutating func file(_ id: String) throws(StoreFailure) -> StoredFile? {
    fileBook.files[id]
  }

  public mutating func places(ofFile id: String) throws(StoreFailure) -> [FilePlace] {
    fileBook.places(of: id).compactMap { room, seq, sender in
      rooms[room].map { FilePlace(room: $0.name, seq: seq, sender: sender) }
    }
  }

  public mutating func fileBytes(of user: String) throws(StoreFailure) -> Int64 {
    fileBook.bytes(of: user)
  }

  public mutating func unusedBytes(limit: Int) throws(StoreFailure) -> [String] {
    fileBook.unused(limit: limit)
  }

  public mutating func usedBytes(among hashes: [String]) throws(StoreFailure) -> [String] {
    fileBook.used(among: hashes)
  }

  public mutating func unsentFiles(
    before at: Int64, limit: Int
  ) throws(StoreFailure) -> [String] {
    fileBook.unsent(before: at, limit: limit)
  }

  /// Applies what a batch changes of files.
  mutating func recordFiles(_ changes: StoreChanges) {
    for file in changes.files { fileBook.add(file) }
    for new in changes.entries {
      if let file = new.entry.file {
        fileBook.record(file.id, sentBy: new.entry.from, room: new.room, seq: new.entry.seq)
      }
    }
    for (room, seq, _) in changes.redactions { fileBook.forget(room: room, seq: seq) }
    for (room, first) in changes.trims { fileBook.forget(room: room, before: first) }
    for user in changes.erasedUsers { fileBook.forget(owner: user) }
    fileBook.expire(changes.expiredFiles)
    fileBook.forgetRemoved(changes.removedBytes)
  }
}
