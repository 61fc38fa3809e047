internal import Postgres
internal import Relay
internal import Wire

/// The statements that store what a batch changes of files, after those of `CommitCalls`. Triggers of the tables do
/// the rest (`FileSchema`).
struct FileCalls {
  private(set) var calls: [PostgresCall] = []

  init(_ changes: StoreChanges) {
    add(changes.files)
    let named = changes.entries.compactMap { new in
      new.entry.file.map { (new.room, new.entry.seq, $0.id, new.entry.from) }
    }
    if !named.isEmpty {
      calls.append(
        FileStatements.insertEntries(
          .ints(named.map(\.0)), .ints(named.map(\.1)), .texts(named.map(\.2)),
          .texts(named.map(\.3))))
    }
    if !changes.redactions.isEmpty {
      calls.append(
        FileStatements.deleteEntries(
          .ints(changes.redactions.map(\.room)), .ints(changes.redactions.map(\.seq))))
    }
    if !changes.trims.isEmpty {
      calls.append(
        FileStatements.trimEntries(
          .ints(changes.trims.map(\.room)), .ints(changes.trims.map(\.first))))
    }
    forget(changes)
  }

  private mutating func add(_ files: [StoredFile]) {
    guard !files.isEmpty else { return }
    calls.append(
      FileStatements.insert(
        .texts(files.map(\.id)), .texts(files.map(\.owner)), .texts(files.map(\.hash)),
        .texts(files.map { $0.thumbnail ?? "" }), .ints(files.map(\.countedBytes)),
        .byteStrings(files.map(\.description.body)), .ints(files.map(\.uploadedAt))))
  }

  /// Forgets files that no entry names, users, and bytes that were removed.
  private mutating func forget(_ changes: StoreChanges) {
    if !changes.expiredFiles.isEmpty {
      calls.append(FileStatements.delete(.texts(changes.expiredFiles)))
    }
    if !changes.erasedUsers.isEmpty {
      let users = PostgresValue.texts(changes.erasedUsers)
      calls += [FileStatements.deleteUnsent(users), FileStatements.updateOwners(users)]
    }
    if !changes.removedBytes.isEmpty {
      calls.append(FileStatements.deleteUnused(.texts(changes.removedBytes)))
    }
  }
}
