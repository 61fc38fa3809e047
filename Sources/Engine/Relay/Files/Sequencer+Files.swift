import Wire

/// Entries that name files, and the files that they may name.
extension Sequencer {
  /// Checks that the sender of an entry may show a file: they have uploaded it, or may read an entry that names
  /// it; and that they have room for it among their files.
  /// - Returns: the body of the entry, with what the relay says of the file.
  mutating func resolve(
    file id: String, _ append: LogRequest.Append, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Result<[UInt8], WireError> {
    let file = batch.removedFiles.contains(id) ? nil : try store.file(id)
    let isOwn = file?.owner == append.user
    guard let file, try isOwn ? true : isReadable(id, append, &batch, &store) else {
      return .failure(
        WireError(
          .noSuchEntry,
          "There is no file \(id) that you have uploaded or may read. Upload it, and send it within a day.",
          re: .send, room: append.room, id: append.id, field: "file"))
    }
    // What was uploaded counts already until it is sent.
    let isCounted = isOwn && !file.isSent && !batch.sentFiles.contains(id)
    if !isCounted {
      let limit = limits.fileBytesPerUser
      let used = try store.fileBytes(of: append.user) + (batch.fileBytes[append.user] ?? 0)
      guard limit == 0 || used + file.countedBytes <= limit else {
        var error = Self.tooManyFiles(limit, used)
        (error.re, error.room, error.id) = (.send, append.room, append.id)
        return .failure(error)
      }
      batch.fileBytes[append.user, default: 0] += file.countedBytes
    }
    batch.sentFiles.insert(id)
    return .success(append.body + [UInt8(ascii: ",")] + file.description.body)
  }

  static func tooManyFiles(_ limit: Int64, _ used: Int64) -> WireError {
    WireError(
      .limitReached,
      "Your files have \(used) bytes; the limit is \(limit). Delete entries with files first.",
      field: "files_bytes_per_user")
  }

  private static var fileIsSent: WireError {
    WireError(
      .idConflict,
      "The file was sent. It is removed with the last entry that names it: delete that."
    )
  }

  private static var fileIsAnother: WireError {
    WireError(
      .idConflict,
      "The upload was completed by another request, with other bytes. Its file has those; upload these as another one."
    )
  }

  private mutating func isReadable(
    _ id: String, _ append: LogRequest.Append, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    for place in try store.places(ofFile: id) {
      guard append.rights.mayRead(place.room), RoomName.isOpen(place.room, to: append.user) else {
        continue
      }
      let room = try room(place.room, &store)
      if try readingRefusal(
        of: append.user, append.isOperator, in: room, re: .send, batch.now, &store) == nil,
        try isReadable(place.seq, by: append.user, append.isOperator, in: room, &batch, &store),
        let entry = try content(place.seq, in: room, &batch, &store),
        !hides(entry, from: append.user, in: room)
      {
        return true
      }
    }
    return false
  }

  // MARK: - Files

  mutating func change(
    _ change: FileChange, for asker: FileAsker, from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    switch change {
    case .add(let file):
      // Asked again, because the answer to the first time was lost.
      let known = try store.file(file.id) ?? batch.newFiles.first { $0.id == file.id }
      if let known {
        // Two relays have gone on with the upload: the first file counts.
        guard known.digest == file.digest else {
          batch.answers.append((loop, .file(asker, .refused(Self.fileIsAnother))))
          return
        }
      } else {
        let limit = limits.fileBytesPerUser
        let used = try store.fileBytes(of: file.owner) + (batch.fileBytes[file.owner] ?? 0)
        guard limit == 0 || used + file.countedBytes <= limit else {
          let refusal = FileAnswer.refused(Self.tooManyFiles(limit, used))
          batch.answers.append((loop, .file(asker, refusal)))
          return
        }
        batch.fileBytes[file.owner, default: 0] += file.countedBytes
        batch.newFiles.append(file)
      }
    case .expire(let time):
      let unsent = try store.unsentFiles(before: time, limit: FileChange.expiredAtOnce)
      batch.expiredFiles += unsent
      batch.filePromises.append((loop, asker, .expired(unsent.count)))
      return
    case .remove(let id, let user):
      guard try store.file(id)?.owner == user, !batch.removedFiles.contains(id) else {
        batch.answers.append((loop, .file(asker, .file(nil))))
        return
      }
      guard try store.file(id)?.isSent == false, !batch.sentFiles.contains(id) else {
        batch.answers.append((loop, .file(asker, .refused(Self.fileIsSent))))
        return
      }
      batch.removedFiles.insert(id)
      batch.expiredFiles.append(id)
    case .removed(let hashes): batch.removedBytes += hashes
    }
    batch.filePromises.append((loop, asker, .done))
  }
}

extension ReadRequest {
  /// Whether a user may read one of the entries that name a file.
  static func mayRead(
    _ file: StoredFile, _ asker: Asker, _ rights: Rights, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> Bool {
    for place in try reader.places(ofFile: file.id) {
      guard rights.mayRead(place.room), RoomName.isOpen(place.room, to: asker.user),
        let room = try readable(place.room, by: asker, &reader), place.seq >= room.first,
        // Sent again by a user that its owner has blocked, it is still the owner's.
        file.owner == asker.user
          || !room.direct.hidden.contains(where: {
            $0.sender == place.sender && place.sender != asker.user && $0.contains(place.seq)
          })
      else { continue }
      return true
    }
    return false
  }
}
