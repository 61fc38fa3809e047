internal import CUtf8proc

/// Folds text for searching.
public enum TextFolding {
  /// Returns the letters of a character without case and diacritics (é and E are e, ß is ss): the
  /// Unicode case folding of the compatibility decomposition by utf8proc, without marks. Some
  /// letters that Unicode does not decompose are mapped as well.
  ///
  /// - Returns: Scalar values; empty for a mark by itself.
  public static func folded(_ character: Character) -> [UInt32] {
    var folded: [UInt32] = []
    for scalar in character.unicodeScalars { fold(scalar, into: &folded) }
    return folded
  }

  /// Returns a folded text as UTF-8; see `folded`.
  public static func utf8(_ text: String) -> [UInt8] {
    var folded: [UInt32] = []
    folded.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars { fold(scalar, into: &folded) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(folded.count)
    for value in folded {
      if value < 0x80 {
        bytes.append(UInt8(value))
      } else if let scalar = Unicode.Scalar(value), let encoded = UTF8.encode(scalar) {
        bytes.append(contentsOf: encoded)
      }
    }
    return bytes
  }

  /// Appends the folding of one scalar; see `folded`.
  public static func fold(_ scalar: Unicode.Scalar, into folded: inout [UInt32]) {
    let value = Int(scalar.value)
    if value < single.count, single[value] != 0 {
      folded.append(single[value])
    } else {
      foldAny(scalar, into: &folded)
    }
  }

  /// The folding of each scalar up to the end of Latin Extended-B; 0 if it is not exactly one
  /// scalar.
  private static let single: [UInt32] = (0..<0x250).map { value in
    var folded: [UInt32] = []
    if let scalar = Unicode.Scalar(UInt32(value)) { foldAny(scalar, into: &folded) }
    return folded.count == 1 ? folded[0] : 0
  }

  private static func foldAny(_ scalar: Unicode.Scalar, into folded: inout [UInt32]) {
    switch scalar {
    case "A"..."Z": folded.append(scalar.value + 32)
    case "\0"..."\u{7F}": folded.append(scalar.value)
    case "ø", "Ø": folded.append(UInt32(UInt8(ascii: "o")))
    case "ł", "Ł": folded.append(UInt32(UInt8(ascii: "l")))
    case "đ", "Đ", "ð", "Ð": folded.append(UInt32(UInt8(ascii: "d")))
    case "ı": folded.append(UInt32(UInt8(ascii: "i")))
    case "æ", "Æ": folded += [UInt32(UInt8(ascii: "a")), UInt32(UInt8(ascii: "e"))]
    case "œ", "Œ": folded += [UInt32(UInt8(ascii: "o")), UInt32(UInt8(ascii: "e"))]
    default:
      // The longest decomposition is 18 scalars (U+FDFA).
      var buffer: [Int32] = Array(repeating: 0, count: 32)
      var boundary: Int32 = 0
      let options = utf8proc_option_t(
        UTF8PROC_DECOMPOSE.rawValue | UTF8PROC_COMPAT.rawValue | UTF8PROC_CASEFOLD.rawValue
          | UTF8PROC_STRIPMARK.rawValue)
      let count = unsafe utf8proc_decompose_char(
        Int32(scalar.value), &buffer, buffer.count, options, &boundary)
      // Cannot fail: the scalar is valid, and the buffer is long enough.
      for value in buffer.prefix(max(0, count)) { folded.append(UInt32(value)) }
    }
  }
}
