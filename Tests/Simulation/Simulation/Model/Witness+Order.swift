internal import Relay

/// The order of one connection's sends, at the end of the run.
extension Witness {
  /// Whether all sends, and all requests with a `ref`, have been answered.
  var isAnswered: Bool { fates.allSatisfy { $0.answer != nil } && requests.isEmpty }

  /// Records the rooms in which a refusal took longer to arrive than its hold lasts, or never
  /// arrived: later sends may then be stored first.
  private func recordOvertaken() {
    for (index, fate) in fates.enumerated() {
      guard let taken = referee.taken(link, fate.place) else { continue }
      var (heardAt, until) = (Int64.max, taken.readingTime + Refusal.retryAfterMilliseconds)
      switch fate.answer {
      case .stored: continue
      case .refused(let wait): (heardAt, until) = (fate.answeredAt, taken.readingTime + wait)
      case .rejected: continue
      case nil: break
      }
      for later in fates[(index + 1)...] where later.room == fate.room {
        let laterTaken = referee.taken(link, later.place)?.readingTime ?? .max
        if later.sentAt <= heardAt, laterTaken >= until {
          referee.recordOvertaken(fate.room, user)
        }
      }
    }
  }

  /// Checks the order of this connection's sends. To be called when no more messages will arrive.
  func close() {
    recordOvertaken()
    // Per room: the end of the hold, the last `seq`, and the times at which the sends that may have
    // been refused first may be sent again.
    var places: [String: (until: Int64, seq: Int64, first: [String: Int64])] = [:]
    for fate in fates where !fate.isAmbiguous {
      var place = places[fate.room] ?? (0, 0, [:])
      let takenAt = referee.taken(link, fate.place)?.at
      // A send that is repeated after its own wait ends the hold of the room, whatever its answer
      // is.
      if let takenAt, let own = place.first[fate.id], takenAt >= own {
        (place.until, place.first) = (0, [:])
      }
      switch fate.answer {
      case .refused(let wait):
        guard let takenAt else { break }
        // A send that the log itself refuses gets the full wait.
        if place.first.isEmpty || takenAt >= place.until || wait == Refusal.retryAfterMilliseconds {
          place.first[fate.id] = takenAt + wait
        }
        place.until = max(place.until, takenAt + wait)
      case .stored(let seq, let isDuplicate):
        guard !isDuplicate else { continue }
        if let takenAt, takenAt < place.until {
          fault("\(fate.id) was stored in \(fate.room) after a refused one")
        }
        if seq <= place.seq {
          fault("\(fate.id) has \(seq) in \(fate.room), less than an earlier one")
        }
        place.seq = seq
      case .rejected, nil: break
      }
      places[fate.room] = place
    }
  }
}
