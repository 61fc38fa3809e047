/// The files of this project.
public enum Project {
  /// The top folder. This file is `Tests/TestSupport/Project.swift`.
  public static let path = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()

  /// Returns the path of a file, given relative to the top folder.
  public static subscript(name: String) -> String { "\(path)/\(name)" }
}
