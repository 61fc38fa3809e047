package import Moderation
package import Relay
internal import SQLite
package import Wire

/// Reads entries for catch-up and history, over its own connections, which commits do not wait for.
/// Used by one thread.
package final class SQLiteReader: EntryReader {
  private let path: String
  private let store: OpenStore
  private let lineage: Lineage
  private var state: State

  /// Why the last request failed; `nil` if it succeeded.
  private(set) var failure: StoreFailure?
  private var isDamaged = false

  /// How often an answer is attempted if entries are deleted while it is read.
  private static let attempts = 3
  /// How many entries are looked up at once.
  private static let placesAtOnce: Int64 = 256

  package init(_ store: OpenStore, lineage: Lineage) throws(StoreError) {
    path = store.folder.databasePath
    self.store = store
    self.lineage = lineage
    let database = try Schema.openForReading(store.folder, vfs: store.vfs)
    let index = try IndexReader.open(store, .readOnly)
    do throws(SQLiteError) {
      state = try State.prepare(store.tail, database, index)
    } catch {
      throw StoreError(error, "read", path: path)
    }
  }

  package func answer(_ request: ReadRequest, _ framing: Framing) -> LogAnswer {
    answer { request.answer(from: &$0, lineage, framing) }
  }

  /// Returns the answer that `body` builds; calls it again if entries were deleted in the meantime.
  package func answer(_ body: (inout SQLiteReader) -> LogAnswer) -> LogAnswer {
    var reader = self
    var attempt = 1
    while true {
      failure = nil
      isDamaged = false
      let answer = body(&reader)
      state.endReading()
      if failure == nil { return answer }
      if attempt == Self.attempts {
        if isDamaged { store.distrustIndex() }
        return answer
      }
      attempt += 1
    }
  }

  package func room(_ name: String) throws(StoreFailure) -> ReadableRoom? {
    do throws(SQLiteError) { return try state.room(name) } catch { throw failure(error) }
  }

  package func standing(
    of user: String, inRoom number: Int64
  ) throws(StoreFailure) -> Standing {
    do throws(SQLiteError) {
      return try state.selectStanding.standing(of: user, inRoom: number)
    } catch {
      throw failure(error)
    }
  }

  /// Looks files up.
  func lookUp<Answer>(
    _ body: (inout FileLookups) throws(SQLiteError) -> Answer
  ) throws(StoreFailure) -> Answer {
    do throws(SQLiteError) { return try body(&state.files) } catch { throw failure(error) }
  }

  package func reports(ofRoom number: Int64, limit: Int) throws(StoreFailure) -> [Int64] {
    do throws(SQLiteError) {
      return try state.reports(ofRoom: number, limit: limit)
    } catch {
      throw failure(error)
    }
  }

  package func notice(
    inRoom number: Int64, in seqs: ClosedRange<Int64>, last: Bool
  ) throws(StoreFailure) -> Int64? {
    do throws(SQLiteError) {
      return try state.notice(inRoom: number, in: seqs, last: last)
    } catch {
      throw failure(error)
    }
  }

  package func forEachEntry(
    ofRoom number: Int64, named room: String, in seqs: ClosedRange<Int64>, _ body: (Entry) -> Bool
  ) throws(StoreFailure) {
    do throws(SQLiteError) {
      var lower = seqs.lowerBound
      while lower <= seqs.upperBound {
        let upper = min(seqs.upperBound, lower + Self.placesAtOnce - 1)
        let places = try state.places(ofRoom: number, in: lower...upper)
        guard try state.forEachEntry(at: places, ofRoom: number, named: room, body) else { return }
        lower = upper + 1
      }
    } catch {
      throw failure(error, ofRoom: number, in: seqs)
    }
  }

  package func lastSeq(
    ofRoom number: Int64, in seqs: ClosedRange<Int64>, throughEpoch epoch: Int64
  ) throws(StoreFailure) -> Int64? {
    do throws(SQLiteError) {
      return try state.lastSeq(ofRoom: number, in: seqs, throughEpoch: epoch)
    } catch {
      throw failure(error, ofRoom: number, in: seqs)
    }
  }

  package func changes(
    inRoom number: Int64, through seq: Int64
  ) throws(StoreFailure) -> Int64 {
    do throws(SQLiteError) {
      return try state.changes(inRoom: number, through: seq)
    } catch {
      throw failure(error)
    }
  }

  package func firstTarget(
    inRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> Int64? {
    do throws(SQLiteError) {
      return try state.firstTarget(inRoom: number, in: seqs)
    } catch {
      throw failure(error)
    }
  }

  package func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    do throws(SQLiteError) {
      return try state.targets.lastEdit(of: target, through: seq, inRoom: number, named: room)
    } catch {
      throw failure(error)
    }
  }

  package func reactions(
    to target: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> [(emoji: String, users: Int64)] {
    do throws(SQLiteError) {
      return try state.reactions(to: target, inRoom: number)
    } catch {
      throw failure(error)
    }
  }

  package func forEachUser(
    giving emoji: String, to target: Int64, inRoom number: Int64,
    _ body: (_ user: String, _ seq: Int64) -> Bool
  ) throws(StoreFailure) {
    do throws(SQLiteError) {
      try state.forEachUser(giving: emoji, to: target, inRoom: number, body)
    } catch {
      throw failure(error)
    }
  }

  package func lastSeen(_ user: String) throws(StoreFailure) -> Int64? {
    do throws(SQLiteError) { return try state.lastSeen(user) } catch { throw failure(error) }
  }

  package func users(after user: String, limit: Int) throws(StoreFailure) -> [String] {
    do throws(SQLiteError) { return try state.users(after: user, limit: limit) } catch {
      throw failure(error)
    }
  }

  /// Records an error of reading entries: those that were trimmed and deleted meanwhile are not
  /// missing.
  private func failure(
    _ error: SQLiteError, ofRoom number: Int64, in seqs: ClosedRange<Int64>
  ) -> StoreFailure {
    state.endReading()
    let isSwept = (try? state.first(ofRoom: number)).map { $0 > seqs.lowerBound } ?? false
    return failure(error, isDamage: error.mayBeDamageOfIndex && !isSwept)
  }

  private func failure(_ error: SQLiteError) -> StoreFailure {
    failure(error, isDamage: error.mayBeDamageOfIndex)
  }

  private func failure(_ error: SQLiteError, isDamage: Bool) -> StoreFailure {
    let failure = StoreFailure("could not read \(path): \(error)\(error.advice)")
    self.failure = failure
    isDamaged = isDamaged || isDamage
    return failure
  }
}
