import Platform

/// The lines of one file of an export.
struct ExportLines {
  private let stream: ExportStream
  private let limitBytes: Int
  private var splitter: LineSplitter
  private var isOver = false

  init(_ stream: ExportStream, limitBytes: Int) {
    self.stream = stream
    self.limitBytes = limitBytes
    splitter = LineSplitter(limitBytes: limitBytes)
  }

  var name: String { stream.name }
  /// The number of the line that `next` has returned last, from 1.
  var number: Int { splitter.number }

  /// Returns the next line without its line break; `nil` after the last.
  mutating func next() throws(UnreadableExport) -> [UInt8]? {
    while true {
      switch splitter.next() {
      case .bytes(let line): return line
      case .tooLong: throw error("is longer than \(limitBytes) bytes")
      case nil: break
      }
      if isOver { return nil }
      let piece = try stream.next()
      if piece.isEmpty {
        isOver = true
        splitter.finish()
      } else {
        unsafe splitter.append(piece.span.bytes)
      }
    }
  }

  /// The file and the line, for the operator.
  var place: String { "\(name), line \(number)" }

  func error(_ reason: String) -> UnreadableExport {
    UnreadableExport(name, line: number, reason)
  }
}
