package import Relay
import Wire

/// What a loop asks of the threads that keep the bytes of files. Each is answered by `LoopMessage.files`.
package enum FileWork: Sendable {
  /// Creates an upload. `usedBytes` are those of the user's
  /// files.
  case create(user: String, bytes: Int64, metadata: String, usedBytes: Int64)
  /// Returns a user's upload.
  case find(String, user: String)
  /// Begins to append bytes at an offset: until another request does, only this one may write. With a checksum,
  /// the bytes count once all of them are there and it is right.
  case begin(String, user: String, offset: Int64, bytes: Int64, isChecked: Bool)
  case write(String, [UInt8])
  /// All bytes of the request are written. Answered with the file if they complete it.
  case end(String, UploadChecksum?)
  /// Ends an upload whose file the log has. Only then does its client get to know: were it answered before, and the relay
  /// killed in between, no client would ask for the upload again, and its bytes would outlive the last entry of the file.
  case confirm(String)
  case terminate(String, user: String)
  /// Ends the uploads of users who do not come back. Not answered.
  case giveUp(Set<String>)
  /// Reads from the stored bytes with a hash.
  case read(hash: String, offset: Int64, bytes: Int)
  /// Reads from the PNG that a stored thumbnail is converted to for a user.
  case readPNG(ofThumbnail: String, user: String, offset: Int64, bytes: Int)
  /// Removes stored bytes, except those that were stored again since the last such request was answered.
  case remove([String])
}

/// The one who has asked.
package enum FileWorker: Equatable, Sendable {
  case exchange(ExchangeID)
  case upkeep
}

package enum FileWorkResult: Sendable {
  case upload(Upload)
  /// All bytes of an upload are stored, and the log is to know the file.
  case complete(StoredFile)
  case confirmed
  case bytes([UInt8], size: Int64)
  case terminated
  /// These were removed. Of the others, which are older than a day, the log may know none; there are such after
  /// a crash.
  case removed([String], old: [String])
  /// There is no such upload of the user, or no such bytes.
  case nothing
  case refused(FileRefusal)
}

/// An upload that is not complete.
package struct Upload: Equatable, Sendable {
  package var id: String
  package var bytes: Int64
  /// The number of bytes that have arrived.
  package var offset: Int64
  /// `Upload-Metadata` as it came.
  package var metadata: String
  /// Milliseconds since 1970.
  package var expiresAt: Int64

  package init(id: String, bytes: Int64, offset: Int64, metadata: String, expiresAt: Int64) {
    (self.id, self.bytes, self.offset) = (id, bytes, offset)
    (self.metadata, self.expiresAt) = (metadata, expiresAt)
  }
}

/// Why bytes are not taken.
package enum FileRefusal: Error, Equatable, Sendable {
  case tooManyUploads(limit: Int)
  /// What counts twice may count once soon: an upload that the log knows as a file already.
  case userIsFull(usedBytes: Int64, limit: Int64, mayCountTwice: Bool = false)
  /// `files.bytes`.
  case relayIsFull
  /// `files.min_free_bytes`, or the disk takes no more.
  case diskIsFull
  case wrongOffset(Int64)
  case tooLong
  case wrongChecksum
  /// Another request goes on with the upload.
  case superseded
  /// The disk fails.
  case failed
  /// A thumbnail cannot be converted, or too many wait for that.
  case notConverted

  var problem: HTTPProblem {
    switch self {
    case .tooManyUploads(let limit):
      HTTPProblem(
        409,
        "You have \(limit) uploads that are not complete, the limit. Complete or delete one first.",
        code: .limitReached, field: "uploads_per_user")
    case .userIsFull(let used, let limit, _):
      HTTPProblem(
        409,
        "Your files and uploads have \(used) bytes; the limit is \(limit). Delete entries with files, or uploads, first.",
        code: .limitReached, field: "files_bytes_per_user")
    case .relayIsFull:
      HTTPProblem(
        507, "The relay has no room for more files (files.bytes). Tell its operator.",
        code: .unavailable)
    case .diskIsFull:
      HTTPProblem(
        507, "The disk of the relay has no room for this file. Tell its operator.",
        code: .unavailable)
    case .wrongOffset(let offset):
      HTTPProblem(
        409, "The upload has \(offset) bytes; go on from there (HEAD returns Upload-Offset).",
        code: .badField, field: "Upload-Offset")
    case .tooLong:
      HTTPProblem(
        413, "The content is longer than what is missing of the upload (Upload-Length).",
        code: .tooLarge, field: "Content-Length")
    case .wrongChecksum:
      HTTPProblem(
        460, "The content is not that of Upload-Checksum, and was discarded. Send it again.",
        code: .badField, field: "Upload-Checksum")
    case .superseded:
      HTTPProblem(
        409, "Another request goes on with this upload.", code: .badField, field: "Upload-Offset")
    case .notConverted:
      .unavailable(
        "The thumbnail cannot be converted to PNG now; try again, or accept image/webp.")
    case .failed: .unavailable("The relay cannot store files now; go on with the upload later.")
    }
  }

  /// The rule that the client has violated.
  var rule: Violations.Rule? {
    switch self {
    case .tooManyUploads: .uploadsPerUser
    case .userIsFull: .filesBytesPerUser
    case .relayIsFull: .filesBytes
    case .diskIsFull: .filesMinimumFreeBytes
    default: nil
    }
  }
}
