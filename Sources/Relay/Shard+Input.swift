/// Whose input is taken, and whose has to wait.
extension Shard {
  /// Whether the next message of this session may be handed over. Where not, the connection is not
  /// read from until it appears in `takeResumable`.
  public mutating func mayReceive(_ id: SessionID) -> Bool {
    guard isCurrent(id) else { return false }
    let index = Int(id.index)
    if sessions[index].isClosing { return false }
    if gatheredBytes > Self.gatherBytesLimit {
      sessions[index].isPaused = true
      congested.append(id)
      return false
    }
    if sessions[index].awaitsReply || !hasRoomForReplies(index) {
      sessions[index].isPaused = true
      return false
    }
    return true
  }

  /// So much may be queued that the largest reply and a page still fit into `queueBytes`.
  var replyThreshold: Int {
    let limit = configuration.limits.queueBytes
    return limit == 0 ? .max : max(limit - Self.replyBytes - Self.pageBytes, 0)
  }

  /// A small `queueBytes` must not mean that every send waits for the one before.
  private static let owedBytesAtLeast = 16_384
  /// The longest `ack` or refusal but for its room and id, and the longest `joined`.
  static let answerBytes = 320
  static let joinedBytes = 8192

  private func hasRoomForReplies(_ index: Int) -> Bool {
    let queued = sessions[index].queuedBytes
    let owed = sessions[index].owedBytes
    return queued <= replyThreshold
      && (owed == 0 || queued + owed <= max(replyThreshold, Self.owedBytesAtLeast))
  }

  static func owedBytes(room: String, id: String?) -> Int {
    answerBytes + 2 * room.utf8.count + (id?.utf8.count ?? 0)
  }

  /// The log has answered: what that takes is in the queue, or not needed.
  mutating func settle(_ id: SessionID, _ bytes: Int) {
    guard isCurrent(id) else { return }
    sessions[Int(id.index)].owedBytes -= bytes
    if sessions[Int(id.index)].isPaused { markDirty(Int(id.index)) }
  }

  /// Lets a paused session go on as soon as nothing is in its way.
  mutating func noteProgress(_ index: Int) {
    guard sessions[index].isPaused, !sessions[index].awaitsReply, hasRoomForReplies(index),
      gatheredBytes <= Self.gatherBytesLimit
    else { return }
    sessions[index].isPaused = false
    resumable.append(sessions[index].connection)
  }

  /// How many messages were refused with `rate_limited`.
  public struct Refusals: Sendable {
    public internal(set) var sends = 0
    public internal(set) var requests = 0
  }

  /// Those since the last call.
  public mutating func takeRefusals() -> Refusals {
    defer { refusals = Refusals() }
    return refusals
  }

  /// Connections whose input may go on.
  public mutating func takeResumable() -> [Int32] {
    defer { resumable.removeAll(keepingCapacity: true) }
    return resumable
  }
}
