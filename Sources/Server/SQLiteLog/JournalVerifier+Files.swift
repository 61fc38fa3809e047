internal import Relay
internal import SQLite
internal import Wire

extension JournalVerifier {
  /// Checks that what is known of files matches the entries that name them.
  mutating func checkFiles() throws(SQLiteError) {
    var sums: [Int64: PlaceSum] = [:]
    var select = try Statement(
      """
      SELECT room, seq FROM file_entries JOIN rooms ON rooms.number = room WHERE seq >= rooms.first
      """, on: database)
    while try select.step() {
      sums[select.integer(0), default: PlaceSum()].add(seq: select.integer(1), position: 0)
    }
    for (number, room) in rooms where room.named != sums[number] ?? PlaceSum() {
      findings.add("the table file_entries does not match its entries with files", room: room.name)
    }
    try check(
      """
      SELECT id FROM files WHERE entries <> (SELECT count(*) FROM file_entries WHERE file = id)
        OR sent = 0 AND entries > 0 OR sent = 1 AND entries = 0
      """, "counts the entries that name it wrongly")
    try check(
      """
      SELECT user FROM file_users WHERE bytes <> (
        SELECT coalesce(sum(bytes), 0) FROM files WHERE owner = user AND sent = 0) + (
        SELECT coalesce(sum(bytes), 0) FROM file_entries JOIN files ON id = file
        WHERE sender = user)
      """, "has another size than its files", kind: "the user")
    try check(
      """
      SELECT hash FROM unused_bytes WHERE hash IN (SELECT hash FROM files)
        OR hash IN (SELECT thumbnail FROM files)
      """, "is to be removed, and a file has it", kind: "the hash")
    var descriptions = try Statement("SELECT id, description FROM files", on: database)
    while try descriptions.step() {
      if FileDescription(body: descriptions.blob(1)) == nil {
        findings.add("the description of the file \(descriptions.text(0)) is invalid")
      }
    }
  }

  private mutating func check(
    _ query: String, _ problem: String, kind: String = "the file"
  ) throws(SQLiteError) {
    var select = try Statement(query, on: database)
    while try select.step() { findings.add("\(kind) \(select.text(0)) \(problem)") }
  }
}
