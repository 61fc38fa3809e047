import Folding
import Wire

/// The names that the people or the rooms of another chat get at the relay: their own where the relay allows
/// it, or else its folding, with a number where two are alike.
struct FoldedNames {
  private let fallback: String
  private let isValid: (String) -> Bool
  private let limitBytes: Int
  private var taken: Set<String>

  /// For users.
  static func users(taken: Set<String>) -> FoldedNames {
    FoldedNames(
      fallback: "user", isValid: UserName.isValid, limitBytes: UserName.lengthLimit, taken: taken)
  }

  /// For rooms that are no direct ones.
  static func rooms(taken: Set<String>) -> FoldedNames {
    FoldedNames(
      fallback: "room",
      isValid: { RoomName.isValid($0) && !RoomName.isDirect($0) && !RoomName.isReserved($0) },
      limitBytes: RoomName.lengthLimit, taken: taken)
  }

  private init(
    fallback: String, isValid: @escaping (String) -> Bool, limitBytes: Int, taken: Set<String>
  ) {
    self.fallback = fallback
    self.isValid = isValid
    self.limitBytes = limitBytes
    self.taken = taken
  }

  /// Returns a valid name that it has not returned before.
  mutating func add(_ name: String) -> String {
    let folded = isValid(name) ? name : folded(name)
    var unique = folded
    var number = 1
    while !taken.insert(unique).inserted {
      number += 1
      let suffix = "-\(number)"
      unique = String(folded.prefix(limitBytes - suffix.utf8.count)) + suffix
    }
    return unique
  }

  /// Returns the name in lower case and without diacritics, with a hyphen for each run of what names cannot
  /// have.
  func folded(_ name: String) -> String {
    var bytes: [UInt8] = []
    for byte in TextFolding.utf8(name) {
      if byte < 0x80, isValid("a\(Character(Unicode.Scalar(byte)))") {
        bytes.append(byte)
      } else if bytes.last != UInt8(ascii: "-"), !bytes.isEmpty {
        bytes.append(UInt8(ascii: "-"))
      }
      if bytes.count == limitBytes { break }
    }
    while bytes.last == UInt8(ascii: "-") { bytes.removeLast() }
    let folded = String(decoding: bytes, as: UTF8.self)
    if isValid(folded) { return folded }
    // A name of the relay's own, such as those of direct rooms.
    let plain = String(folded.map { $0 == ":" ? "-" : $0 })
    return isValid(plain) ? plain : fallback
  }
}
