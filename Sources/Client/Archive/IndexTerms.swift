internal import Folding

/// The terms under which the index has a text, and what finds them.
///
/// Each term begins with the number of its block, a part of the archive by the order of arrival, so
/// that the newest block can be searched without reading the terms of the others: a search for a
/// common word, or for one letter, ends after a few of them, and one for a rare word looks it up
/// once in each.
enum IndexTerms {
  /// A block has 4,096 positions.
  private static let blockBits: Int64 = 12

  static func block(of position: Int64) -> Int64 { position >> blockBits }

  /// Returns the terms of a text, separated by spaces; empty if there are none.
  static func terms(of text: String, at position: Int64) -> String {
    var bytes: [UInt8] = []
    let prefix = code(block(of: position))
    for run in SearchRun.runs(in: text) {
      run.forEachTerm { term in
        if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
        append(prefix, term, to: &bytes)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the expression that finds a query's words in a block. Contains nothing of what the
  /// user has typed but letters, digits and symbols that FTS5's syntax does not use.
  static func expression(_ query: SearchQuery, in block: Int64) -> String {
    var bytes: [UInt8] = []
    let prefix = code(block)
    for run in query.runs {
      run.forEachWantedTerm { term in
        if !bytes.isEmpty { bytes += Array(" AND ".utf8) }
        bytes.append(UInt8(ascii: "\""))
        append(prefix, term, to: &bytes)
        bytes += Array("\"*".utf8)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(
    _ prefix: [UInt8], _ term: ArraySlice<UInt32>, to bytes: inout [UInt8]
  ) {
    bytes += prefix
    for value in term {
      if value < 0x80 {
        bytes.append(UInt8(value))
      } else if let scalar = Unicode.Scalar(value) {
        bytes += UTF8.encode(scalar) ?? .init()
      }
    }
  }

  /// Four digits to the base of 36, which FTS5 takes for letters of the word; more in an archive
  /// beyond seven billion entries.
  private static func code(_ block: Int64) -> [UInt8] {
    let digits = Array(String(max(0, block), radix: 36).utf8)
    return Array(repeating: UInt8(ascii: "0"), count: max(0, 4 - digits.count)) + digits
  }
}
