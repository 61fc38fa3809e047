package import Relay

/// What a node of a shared log knows of its place in the log.
package struct NodeState {
  /// What a transaction is for.
  package enum Purpose: Sendable { case commit, snapshot }

  /// A batch that the node has applied.
  package struct Applied: Equatable {
    package var position: Int64
    /// `nil` if the feed was empty when the node registered.
    package var mark: Int64?
    /// Whether clients have to get it again if it was lost: not if it has only presences and typing.
    package var isDurable = false

    package init(position: Int64, mark: Int64?, isDurable: Bool = false) {
      self.position = position
      self.mark = mark
      self.isDurable = isDurable
    }
  }

  /// Random, so that no two nodes have the same one, even in a database that was restored.
  package let node: Int64
  package var lineage: Lineage
  /// How many batches this node has committed.
  private(set) var batches: Int64 = 0
  /// The last batch that cannot be lost any more, as far as the server is configured for that.
  private(set) var confirmed: Applied
  /// The batches that were applied after it, ascending. They can be lost: by a crash, if they were
  /// committed without waiting for the disk, or with a server that had not replicated them.
  private(set) var unconfirmed: [Applied] = []
  /// The batches that the current transaction has read.
  private var read: [Applied] = []

  var transaction: Purpose?
  /// Why the current batch cannot be processed.
  package var failure: StoreFailure?
  /// Why the node has to register again, for the operator; it can do nothing else then.
  package var mustRegister: String?
  /// The number of the epoch in which batches were lost for certain.
  var lostEpoch: Int64?
  /// Whether the others may have lost what this node told them of presence, and this node what they
  /// told.
  var hasLostNews = false

  /// - Parameter last: the last batch of the feed.
  package init(node: Int64, lineage: Lineage, last: Applied) {
    self.node = node
    self.lineage = lineage
    confirmed = last
  }

  /// The last batch that the node has applied.
  package var position: Int64 { unconfirmed.last?.position ?? confirmed.position }

  /// Up to here everything that could be lost is confirmed.
  package var shownPosition: Int64 {
    (unconfirmed.first(where: \.isDurable)?.position).map { $0 - 1 } ?? position
  }

  /// Whether no batch that clients would have to get again can be lost.
  var isConfirmed: Bool { !unconfirmed.contains(where: \.isDurable) }

  /// Whether nothing at all can be lost.
  var isFullyConfirmed: Bool { unconfirmed.isEmpty }

  // MARK: - Applying batches

  /// Records what a transaction has read.
  /// - Returns: whether there is no gap.
  mutating func recordRead(_ batches: [FeedBatch]) -> Bool {
    read = []
    var next = position + 1
    for batch in batches {
      guard batch.position == next else { return false }
      next += 1
      read.append(
        Applied(
          position: batch.position, mark: batch.mark, isDurable: batch.sequenced.changes.isDurable))
    }
    return true
  }

  /// The batches that the transaction has read are applied.
  mutating func recordFollowed() {
    unconfirmed += read
    read = []
  }

  /// Records a batch of this node that is stored.
  mutating func recordCommitted(_ batch: FeedBatch, isCertain: Bool) {
    precondition(batch.position == position + 1, "a node commits on top of what it has applied")
    batches += 1
    let isDurable = batch.sequenced.changes.isDurable
    unconfirmed.append(
      Applied(position: batch.position, mark: batch.mark, isDurable: isDurable))
    if isDurable, isCertain { confirm(through: batch.position) }
  }

  /// Everything up to a position is certain.
  mutating func confirm(through position: Int64) {
    guard let last = unconfirmed.lastIndex(where: { $0.position <= position }) else { return }
    precondition(unconfirmed[last].position > confirmed.position)
    confirmed = unconfirmed[last]
    unconfirmed.removeFirst(last + 1)
  }

  // MARK: - After a loss

  /// Compares what this node has applied with what the database has.
  mutating func compare(_ findings: NodeFindings) {
    func exists(_ batch: Applied) -> Bool { findings.marks[batch.position] == batch.mark }
    if let common = unconfirmed.lastIndex(where: exists) {
      return lose(unconfirmed[(common + 1)...])
    }
    if confirmed.mark == nil || exists(confirmed) { return lose(unconfirmed[...]) }
    if let oldest = findings.oldest, oldest > confirmed.position {
      mustRegister = "It was stopped or cut off for so long that it has missed batches"
      return
    }
    lostEpoch = lineage.current.number
    mustRegister =
      "The database no longer has batch \(confirmed.position) of the log: it was restored, or another "
      + "server has taken over that did not have it"
  }

  private mutating func lose(_ lost: ArraySlice<Applied>) {
    guard let first = lost.first else { return }
    if let durable = lost.first(where: \.isDurable) {
      lostEpoch = lineage.current.number
      mustRegister =
        "The database no longer has batch \(durable.position) of the log: another server has taken "
        + "over that did not have it, or the server has lost commits in a crash"
      return
    }
    unconfirmed.removeAll { $0.position >= first.position }
    hasLostNews = true
  }
}

extension StoreChanges {
  /// Whether there is something that must not be lost once it is confirmed. The rest, presence and
  /// typing, is committed without waiting for the disk.
  package var isDurable: Bool {
    !(newRooms.isEmpty && entries.isEmpty && members.isEmpty && formerMembers.isEmpty
      && trims.isEmpty && redactions.isEmpty && rules.isEmpty && standings.isEmpty
      && directs.isEmpty && blocks.isEmpty && reports.isEmpty
      && bans.isEmpty && cleared.isEmpty)
  }
}
