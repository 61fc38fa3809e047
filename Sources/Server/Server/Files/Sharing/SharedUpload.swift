import Gateway
import Wire

/// The right of a relay to go on with an upload. Of several claims the greatest counts.
struct UploadClaim: Hashable, Comparable, Sendable {
  /// 0 = that of the relay that has created the upload.
  var number: Int
  /// Random.
  var writer: String

  static func < (one: Self, other: Self) -> Bool {
    (one.number, one.writer) < (other.number, other.writer)
  }
}

/// Bytes of an upload in the bucket.
struct SharedPart: Equatable, Sendable {
  var claim: UploadClaim
  var range: Range<Int64>
  /// The writer of the part before; `SharedUpload.noWriter` at the beginning of the upload.
  var parent: String
}

/// What the bucket has of one upload: a record, claims, and parts. The names of its objects say how they belong together:
///
/// - `ID.EXPIRES.record`
/// - `ID.EXPIRES.NUMBER.WRITER`, an empty object: a claim
/// - `ID.EXPIRES.NUMBER.WRITER.START.END.PARENT`, a part
///
/// Each part names its writer and that of the part before, so a part of a relay that has lost its claim is never taken for one
/// of another relay, whatever bytes it has. All names of a claim come before those of a greater one, and the record is last.
struct SharedUpload {
  /// What the names of all objects of an upload begin with.
  struct Place: Equatable, Sendable {
    var id: String
    /// Milliseconds since 1970.
    var expiresAt: Int64

    var prefix: String { "\(id).\(expiresAt)." }
    var record: String { "\(prefix)\(SharedUpload.recordName)" }

    func name(of claim: UploadClaim) -> String {
      "\(prefix)\(claim.number < 10 ? "0" : "")\(claim.number).\(claim.writer)"
    }

    /// Comes after all names of a claim, and before those of greater ones.
    func end(of claim: UploadClaim) -> String { "\(name(of: claim))~" }

    func name(of part: SharedPart) -> String {
      "\(name(of: part.claim)).\(part.range.lowerBound).\(part.range.upperBound).\(part.parent)"
    }

    /// Returns the upload of an object, and what follows in its name; `nil` if it is no name of one.
    static func read(_ name: String) -> (place: Self, rest: [Substring])? {
      let fields = name.split(separator: ".", omittingEmptySubsequences: false)
      guard fields.count >= 3, let expiresAt = Int64(fields[1]) else { return nil }
      return (Self(id: String(fields[0]), expiresAt: expiresAt), Array(fields.dropFirst(2)))
    }
  }

  static let noWriter = "-"
  /// A claim has a number of two digits.
  static let claimsLimit = 64
  fileprivate static let recordName = "record"

  let place: Place
  private(set) var claims: Set<UploadClaim> = []
  private(set) var parts: [SharedPart] = []

  /// - Returns: `nil` without a record: it is removed first.
  init?(names: [String]) {
    var place: Place?
    for name in names {
      guard let (found, rest) = Place.read(name) else { continue }
      if rest == [Self.recordName[...]] { place = found }
      guard rest.count >= 2, let number = Int(rest[0]) else { continue }
      let claim = UploadClaim(number: number, writer: String(rest[1]))
      claims.insert(claim)
      if rest.count == 5, let start = Int64(rest[2]), let end = Int64(rest[3]), start < end {
        parts.append(
          SharedPart(claim: claim, range: start..<end, parent: String(rest[4])))
      }
    }
    guard let place else { return nil }
    self.place = place
  }

  /// The parts that the upload consists of, in order; `nil` if one is missing.
  ///
  /// They end with the last one of the greatest claim that has any: what a relay tells a client is there, and it tells only
  /// while its claim is the greatest.
  var path: [SharedPart]? {
    guard
      var part = parts.max(by: {
        ($0.claim, $0.range.upperBound, $1.range.lowerBound)
          < ($1.claim, $1.range.upperBound, $0.range.lowerBound)
      })
    else { return [] }
    var path = [part]
    while part.range.lowerBound > 0 {
      // Of two that end here, the longer one replaces the other.
      let before = parts.filter {
        $0.claim.writer == part.parent && $0.range.upperBound == part.range.lowerBound
      }
      guard let next = before.min(by: { $0.range.lowerBound < $1.range.lowerBound }) else {
        return nil
      }
      part = next
      path.append(part)
    }
    return path.reversed()
  }
}
