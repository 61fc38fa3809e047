/// A line of an export of either kind.
package enum ImportLine {
  case entry(ExportLine)
  case marks(MarksLine)

  package init(decoding line: [UInt8]) throws(ExportLine.Malformed) {
    do {
      self = .entry(try ExportLine(decoding: line))
    } catch {
      // Nearly all lines are entries.
      guard let marks = try MarksLine(decoding: line) else { throw error }
      self = .marks(marks)
    }
  }
}
