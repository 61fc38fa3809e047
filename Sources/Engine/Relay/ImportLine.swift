/// A line of an export of any kind.
package enum ImportLine {
  case entry(ExportLine)
  case marks(MarksLine)
  case trim(TrimLine)
  case rules(RulesLine)
  case standing(StandingLine)
  case direct(DirectLine)
  case block(BlockLine)
  case ban(BanLine)
  case file(FileLine)

  package init(decoding line: [UInt8]) throws(ExportLine.Malformed) {
    do {
      self = .entry(try ExportLine(decoding: line))
    } catch {
      // Nearly all lines are entries.
      if let marks = try MarksLine(decoding: line) {
        self = .marks(marks)
      } else if let trim = try TrimLine(decoding: line) {
        self = .trim(trim)
      } else if let rules = try RulesLine(decoding: line) {
        self = .rules(rules)
      } else if let standing = try StandingLine(decoding: line) {
        self = .standing(standing)
      } else if let direct = try DirectLine(decoding: line) {
        self = .direct(direct)
      } else if let block = try BlockLine(decoding: line) {
        self = .block(block)
      } else if let ban = try BanLine(decoding: line) {
        self = .ban(ban)
      } else if let file = try FileLine(decoding: line) {
        self = .file(file)
      } else {
        throw error
      }
    }
  }
}
