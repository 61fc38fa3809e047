import Gateway
import Platform

/// What is on the disk of an upload: its bytes, those that are not checked yet, and a record beside them.
extension UploadTable {
  func write(_ entry: Entry) throws(SystemError) {
    try folder.disk.write(entry.record.json, to: folder.record(entry.upload.id))
  }

  /// Reads an upload; `nil` if its record or its bytes are missing or damaged: the client begins again.
  func read(_ id: String) -> Entry? {
    guard let record = folder.readRecord(id),
      let size = folder.status(of: folder.upload(id))?.size, size <= record.bytes
    else { return nil }
    return Entry(user: record.user, upload: record.upload(id, offset: size))
  }
}

extension FileFolder {
  /// Returns the record of an upload; `nil` if it is missing or damaged.
  func readRecord(_ id: String) -> UploadRecord? {
    let json = try? disk.read(record(id), at: 0, bytes: UploadRecord.limitBytes).bytes
    return json.flatMap { UploadRecord(json: $0) }
  }

  func removeUpload(_ id: String) {
    remove(record(id))
    // Another thread may be making them the upload's bytes.
    remove(unchecked(id))
    remove(upload(id))
  }
}
