package import Relay

/// Turns and snapshots, and what follows from their failures.
extension NodeStore {
  /// Begins a transaction, and reads what the other nodes have committed.
  /// - Parameters: as of the step `begin`.
  func begin(
    _ purpose: NodeState.Purpose, lookingUp identities: [EntryIdentity], checksNodes: Bool
  ) throws(StoreFailure) -> NodeBeginning {
    state.failure = nil
    do throws(DatabaseFailure) {
      if !isConnected { try reconnect() }
      if state.mustRegister == nil {
        state.transaction = purpose
        let beginning = try begin(
          purpose, after: state.position, lookingUp: identities, checksNodes: checksNodes)
        if beginning.epoch != state.lineage.current.number {
          state.mustRegister = "Another relay has begun a new epoch of the log"
        } else if !state.recordRead(beginning.batches) {
          state.mustRegister =
            "It was stopped or cut off for so long that it has missed batches"
        } else {
          return beginning
        }
      }
    } catch {
      throw fail(error, "take the lock")
    }
    throw fail(DatabaseFailure(state.mustRegister ?? ""), "follow the other relays")
  }

  /// Records that the batches of `begin` were applied.
  func recordFollowed() { state.recordFollowed() }

  /// Ends a transaction that has changed nothing.
  func endTransaction() {
    guard state.transaction != nil else { return }
    state.transaction = nil
    // Without a connection there is no transaction either.
    try? rollBack()
  }

  /// Records that the current batch cannot be processed: everything fails until the next `begin`.
  package func fail(_ error: DatabaseFailure, _ action: String) -> StoreFailure {
    if !error.isConnectionLost { endTransaction() }
    state.transaction = nil
    let failure = StoreFailure("could not \(action) in the database: \(error)")
    state.failure = failure
    return failure
  }

  /// Connects anew, and finds out whether the database still has the log that this node knows.
  private func reconnect() throws(DatabaseFailure) {
    do throws(DatabaseFailure) {
      try connect()
      let findings = try examine(state.node, state.confirmed.position...state.position)
      state.compare(findings)
      let lineage = try ensureEpoch(lost: state.lostEpoch)
      if state.mustRegister == nil, !findings.knowsNode {
        state.mustRegister = "It was cut off for so long that the others have forgotten it"
      }
      if state.mustRegister == nil, lineage.current != state.lineage.current {
        state.mustRegister = "Another server has taken over"
      }
    } catch {
      // A connection is used only after all of this.
      disconnect()
      throw DatabaseFailure(error.description, isConnectionLost: true)
    }
  }

  // MARK: - Committing

  func commit(_ sequenced: SequencedBatch, _ news: NodeNews) throws(StoreFailure) {
    if let failure = state.failure { throw failure }
    guard state.transaction == .commit else { throw StoreFailure("the batch has no lock") }
    let batch = FeedBatch(
      position: state.position + 1, mark: .random(in: .min ... .max), node: state.node,
      sequenced: sequenced, news: news)
    var isCertain = false
    do throws(DatabaseFailure) {
      isCertain = try store(batch, number: state.batches + 1)
      state.transaction = nil
    } catch {
      guard error.isConnectionLost else { throw fail(error, "write") }
      state.transaction = nil
      guard awaitOutcome(of: state.batches + 1) else { throw fail(error, "write") }
      isCertain = true
    }
    // The batch is stored, but must not be published before it is certain.
    if sequenced.changes.isDurable, !isCertain {
      guard awaitOutcome(of: state.batches + 1) else {
        throw fail(DatabaseFailure("the commit was lost"), "write")
      }
      isCertain = true
    }
    state.recordCommitted(batch, isCertain: isCertain)
  }

  /// Finds out whether a commit whose answer was lost was carried out, and makes certain that it stays.
  /// Takes the lock for that: the transaction of the lost connection has ended then.
  /// - Returns: `false` as well if the log ends before that is known.
  private func awaitOutcome(of number: Int64) -> Bool {
    repeat {
      do throws(DatabaseFailure) {
        if !isConnected { try reconnect() }
        guard state.mustRegister == nil else { return false }
        let last = try commitBarrier(state.node, position: state.position, takesLock: true)
        guard let stored = last.number else {
          state.mustRegister = "It was cut off for so long that the others have forgotten it"
          return false
        }
        if last.isCertain { state.confirm(through: state.position) }
        if stored != number { return false }
        if last.isCertain { return true }
      } catch {
        if !error.isConnectionLost { try? rollBack() }
      }
    } while awaitRetry()
    return false
  }

  /// Makes certain that what was applied stays.
  func confirm() throws(StoreFailure) {
    let position = state.position
    do throws(DatabaseFailure) {
      let last = try commitBarrier(state.node, position: position, takesLock: false)
      if last.isCertain { state.confirm(through: position) }
    } catch {
      throw fail(error, "confirm what was read")
    }
  }
}
