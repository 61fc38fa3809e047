internal import Platform

/// The Python program that makes pages and comparisons of reports, `report.py`; it is part of this
/// module, so that an installed swarm needs no other file.
public enum ReportProgram {
  private static let python = ["/usr/bin/python3", "-I", "-c"]

  /// Why there is no page or no comparison; prints as a sentence.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// A single line for the user.
    public var description: String
  }

  /// Throws if it could not draw a page: before a run, since afterwards is too late.
  public static func checkPlots() throws {
    guard try run(["import matplotlib"], errors: .null) else {
      throw Failure(
        description: "a page with plots requires /usr/bin/python3 with matplotlib;"
          + " Debian's package is python3-matplotlib")
    }
  }

  /// Writes a page about a report, which is JSON; blocks.
  public static func writePage(of report: String, to path: String) throws {
    let folder = try Folder.makeTemporary("/tmp/swarm")
    defer { Folder.remove(folder) }
    let json = "\(folder)/report.json"
    try TextFile.write(report, to: json)
    guard try run([program, "page", json, path]) else {
      throw Failure(description: "\(path): the page was not written")
    }
  }

  /// Prints two reports side by side; blocks.
  ///
  /// - Returns: Whether both files are reports; if not, the program has said why.
  public static func compare(_ first: String, _ second: String) throws -> Bool {
    try run([program, "compare", first, second])
  }

  private static var program: String { String(decoding: PackageResources.report_py, as: UTF8.self) }

  private static func run(_ arguments: [String], errors: ChildProgram.Stream = .inherited) throws
    -> Bool
  {
    let id = try ChildProgram.start(python + arguments, input: .null, errors: errors)
    return ChildProgram.wait(for: id) == .exit(0)
  }
}
