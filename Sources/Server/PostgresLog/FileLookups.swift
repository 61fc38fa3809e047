package import Postgres
package import Relay
internal import Wire

extension PostgresRows {
  /// Returns a file from `FileStatements.columns`.
  /// - Throws: if its description is invalid.
  func file(_ row: Int) throws(StoreFailure) -> StoredFile {
    let (id, thumbnail) = (text(row, 0), text(row, 3))
    guard let description = FileDescription(body: byteString(row, 4)) else {
      throw StoreFailure(
        "the description of the file \(id) is invalid; run `relay verify` for details")
    }
    var file = StoredFile(
      id: id, owner: text(row, 1), hash: text(row, 2),
      thumbnail: thumbnail.isEmpty ? nil : thumbnail, description: description,
      uploadedAt: int(row, 5))
    file.isSent = bool(row, 6)
    return file
  }

  fileprivate func file() throws(StoreFailure) -> StoredFile? { isEmpty ? nil : try file(0) }

  fileprivate var filePlaces: [FilePlace] {
    (0..<count).map { FilePlace(room: text($0, 0), seq: int($0, 1), sender: text($0, 2)) }
  }

  /// The first column.
  fileprivate var texts: [String] { (0..<count).map { text($0, 0) } }
}

/// What looks files up: the writer of the log, and each reader.
package protocol FileReading {
  func read(_ call: PostgresCall) throws(StoreFailure) -> PostgresRows
}

extension PostgresStore: FileReading {}
extension PostgresReader: FileReading {}

extension FileReading {
  package func file(_ id: String) throws(StoreFailure) -> StoredFile? {
    try read(FileStatements.select(.text(id))).file()
  }

  package func places(ofFile id: String) throws(StoreFailure) -> [FilePlace] {
    try read(FileStatements.selectPlaces(.text(id))).filePlaces
  }

  package func fileBytes(of user: String) throws(StoreFailure) -> Int64 {
    try read(FileStatements.selectBytes(.text(user))).integers.first ?? 0
  }

  package func unusedBytes(limit: Int) throws(StoreFailure) -> [String] {
    try read(FileStatements.selectUnused(.int(Int64(limit)))).texts
  }

  package func usedBytes(among hashes: [String]) throws(StoreFailure) -> [String] {
    try read(FileStatements.selectUsed(.texts(hashes))).texts
  }

  package func unsentFiles(before at: Int64, limit: Int) throws(StoreFailure) -> [String] {
    try read(FileStatements.selectUnsent(.int(at), .int(Int64(limit)))).texts
  }
}
