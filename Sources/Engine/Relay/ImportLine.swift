/// A line of an export of any kind.
package enum ImportLine {
  case entry(ExportLine)
  case marks(MarksLine)
  case trim(TrimLine)

  package init(decoding line: [UInt8]) throws(ExportLine.Malformed) {
    do {
      self = .entry(try ExportLine(decoding: line))
    } catch {
      // Nearly all lines are entries.
      if let marks = try MarksLine(decoding: line) {
        self = .marks(marks)
      } else if let trim = try TrimLine(decoding: line) {
        self = .trim(trim)
      } else {
        throw error
      }
    }
  }
}
