public import Wire

/// Who asks about files, and gets the answer.
public enum FileAsker: Equatable, Sendable {
  /// An HTTP request.
  case exchange(LogRequest.Ticket)
  /// What removes the bytes that no file has any more.
  case upkeep
}

/// A change of the files that the log knows. Answered by `LogAnswer.file`, with `done` once it is stored.
public enum FileChange: Equatable, Sendable {
  /// A file was uploaded, and its bytes are stored. Refused if its owner then has more than
  /// `EntryLimits.fileBytesPerUser`.
  case add(StoredFile)
  /// Files are forgotten that were uploaded and not sent before this time, in milliseconds since 1970: some of
  /// them, at most `FileChange.expiredAtOnce`. Answered by `expired`.
  case expire(before: Int64)
  /// A user removes a file that they have uploaded, and that no entry names. Refused if one does; answered with
  /// `file(nil)` if there is none.
  case remove(String, by: String)
  /// The bytes with these hashes were removed.
  case removed([String])

  public static let expiredAtOnce = 100
}

/// A question about files. Answered by `LogAnswer.file`.
public enum FileQuestion: Sendable {
  /// A file that a user may read, because an entry names it.
  case readable(String, by: ReadRequest.Asker, Rights)
  /// A file that a user has uploaded.
  case uploaded(String, by: String)
  /// The size of a user's files.
  case size(of: String)
  /// Some of the hashes whose bytes are to be removed.
  case unused
  /// Which of these hashes a file has.
  case used(among: [String])

  public static let hashesAtOnce = 256
}

public enum FileAnswer: Equatable, Sendable {
  case done
  /// The number of files that were forgotten.
  case expired(Int)
  /// `nil` if there is none, or none for this user.
  case file(StoredFile?)
  /// In bytes.
  case size(Int64)
  case hashes([String])
  case refused(WireError)
  /// The store cannot be read, or written, at present.
  case unavailable
}

extension FileQuestion {
  func answer(from reader: inout some EntryReader) -> FileAnswer {
    do throws(StoreFailure) {
      switch self {
      case .readable(let id, let asker, let rights):
        guard let file = try reader.file(id),
          try ReadRequest.mayRead(file, asker, rights, &reader)
        else { return .file(nil) }
        return .file(file)
      case .uploaded(let id, let user):
        let file = try reader.file(id)
        return .file(file?.owner == user ? file : nil)
      case .size(let user): return .size(try reader.fileBytes(of: user))
      case .unused: return .hashes(try reader.unusedBytes(limit: Self.hashesAtOnce))
      case .used(let hashes): return .hashes(try reader.usedBytes(among: hashes))
      }
    } catch {
      return .unavailable
    }
  }
}
