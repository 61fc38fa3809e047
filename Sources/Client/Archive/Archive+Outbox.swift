internal import SQLite
public import Wire

extension Archive {
  /// Appends a message to the outbox; it is on disk when this returns. A message that is present
  /// already (same `room` and `id`) is left unchanged. The relay has its file: its upload has ended.
  /// - Parameters:
  ///   - at: milliseconds since 1970.
  ///   - draft: The draft that it was, which is deleted, unless another process has changed it.
  public func enqueue(
    _ send: ClientMessage.Send, at: Int64, draft: Draft.Version? = nil
  ) throws(ArchiveError) {
    let owner = instance.number
    try writeDurably { (store) throws(SQLiteError) in
      try store.insert(Outgoing(send: send, at: at, refusal: nil), owner: owner)
      try store.deleteUpload(id: send.id)
      if let draft { try store.delete(draft) }
    }
  }

  /// Returns the messages of this process that are waiting to be sent or were refused, in the order
  /// of `enqueue`, those included that it has taken over.
  public func outbox() throws(ArchiveError) -> [Outgoing] {
    let (owner, isShared) = (instance.number, known.isOutboxShared)
    return try read { (store) throws(SQLiteError) in
      try store.outbox { $0 == owner || isShared }
    }
  }

  /// Takes over the messages of processes that have ended; the start does, too.
  /// - Returns: The messages, which belong to this process now, and whether there are messages of
  ///   processes that are running.
  public func takeOver() throws(ArchiveError) -> (taken: [Outgoing], othersRemain: Bool) {
    if known.isOutboxShared { return ([], false) }
    let owners = try read { (store) throws(SQLiteError) in try store.outboxOwners() }
      .filter { $0 != instance.number }
    let ended = Set(owners.filter { !instance.isHeldByAnother($0) })
    let othersRemain = ended.count < owners.count
    if ended.isEmpty { return ([], othersRemain) }
    let (number, session) = (instance.number, try open())
    do throws(SQLiteError) {
      let taken = try session.store.transaction { (store) throws(SQLiteError) in
        // What another process has not taken over in the meantime.
        let taken = try store.outbox { ended.contains($0) }
        for owner in ended { try store.adoptOutbox(of: owner, by: number) }
        return taken
      }
      return (taken, othersRemain)
    } catch {
      // Another process holds the lock for longer than usual: at the next call.
      if error.isBusy { return ([], true) }
      throw explain(error)
    }
  }

  /// Removes a message that the relay has acknowledged from the outbox, with the next flush. If
  /// that is lost, the message is sent again, and the relay recognizes its `id`.
  public func acknowledge(room: String, id: String) { add(.acknowledge(room: room, id: id)) }

  /// Stores the reason for which the relay refused a message.
  public func refuse(room: String, id: String, reason: String) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.setRefusal(reason, room: room, id: id)
    }
  }

  /// Makes a refused message pending again.
  public func retry(room: String, id: String) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.setRefusal(nil, room: room, id: id)
    }
  }

  /// Removes a message that is not to be sent any more, and its upload; durable when this returns.
  public func discard(room: String, id: String) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.deleteOutgoing(room: room, id: id)
      try store.deleteUpload(id: id)
    }
  }
}
