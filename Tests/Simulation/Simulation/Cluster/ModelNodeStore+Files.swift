import Relay

extension ModelNodeStore {
  func file(_ id: String) throws(StoreFailure) -> StoredFile? {
    var rooms = try rooms()
    return try rooms.file(id)
  }

  func places(ofFile id: String) throws(StoreFailure) -> [FilePlace] {
    var rooms = try rooms()
    return try rooms.places(ofFile: id)
  }

  func fileBytes(of user: String) throws(StoreFailure) -> Int64 {
    var rooms = try rooms()
    return try rooms.fileBytes(of: user)
  }

  func unusedBytes(limit: Int) throws(StoreFailure) -> [String] {
    var rooms = try rooms()
    return try rooms.unusedBytes(limit: limit)
  }

  func usedBytes(among hashes: [String]) throws(StoreFailure) -> [String] {
    var rooms = try rooms()
    return try rooms.usedBytes(among: hashes)
  }

  func unsentFiles(before at: Int64, limit: Int) throws(StoreFailure) -> [String] {
    var rooms = try rooms()
    return try rooms.unsentFiles(before: at, limit: limit)
  }
}
