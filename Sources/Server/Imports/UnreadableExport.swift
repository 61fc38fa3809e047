/// Why an export of another chat cannot be imported: what happened, in which file and line, and what to do.
public struct UnreadableExport: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file, with the archive that has it.
  public var file: String
  /// `nil` = the whole file.
  public var line: Int?
  /// The rest of the sentence: `is not JSON`.
  public var reason: String

  init(_ file: String, line: Int? = nil, _ reason: String) {
    self.file = file
    self.line = line
    self.reason = reason
  }

  public var description: String {
    "\(file)\(line.map { ", line \($0)," } ?? "") \(reason). Nothing was imported."
  }
}
