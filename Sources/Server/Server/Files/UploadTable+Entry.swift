import Gateway
import Relay

/// What the table has of each upload.
extension UploadTable {
  enum Phase {
    case receiving
    /// The last request's bytes are being checked.
    case checking(UploadChecksum, Asker)
    /// The file is being made.
    case placing
    case complete(StoredFile)
  }

  struct Entry {
    var user: String
    var upload: Upload
    var phase = Phase.receiving
    /// How far other relays can go on with it; `nil` = they do not know of it, nor does its client.
    var shared: Int64?
    var isBeingShared = false
    /// The bytes before are only in the bucket.
    var localFrom: Int64 = 0
    /// Each time that an upload comes to this relay it has another one: an order for an earlier time has no effect.
    var generation = 0
    /// The request that may write.
    var writer: Asker?
    /// How many bytes the last request has brought that count once they are checked; `nil` = each counts when it comes.
    var uncheckedBytes: Int64?
    /// Milliseconds since 1970; `nil` = all is synced.
    var writtenAt: Int64?
    /// Who waits for the file.
    var waiting: [Asker] = []

    /// What a client is told.
    var toldUpload: Upload {
      var upload = upload
      upload.offset = shared ?? upload.offset
      return upload
    }

    var isComplete: Bool { upload.offset == upload.bytes }

    var isReceiving: Bool { if case .receiving = phase { true } else { false } }

    var record: UploadRecord {
      UploadRecord(
        user: user, bytes: upload.bytes, expiresAt: upload.expiresAt, metadata: upload.metadata)
    }

    /// What may come yet.
    var lackingBytes: Int64 { upload.bytes - upload.offset - (uncheckedBytes ?? 0) }

    /// What the disk does not have yet.
    var missingBytes: Int64 { lackingBytes + localFrom }
  }
}
