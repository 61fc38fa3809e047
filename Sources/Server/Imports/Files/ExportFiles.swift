import Glibc
import Platform

/// The files of an export: a ZIP archive, a folder, or one file.
public struct ExportFiles {
  private enum Place {
    case archive(ZipArchive)
    case folder
    case file(OpenFile)
  }

  let path: String
  private let place: Place
  /// The names, with slashes between folders, in the order of their bytes.
  let names: [String]

  public init(_ path: String) throws(UnreadableExport) {
    self.path = path
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      place = .folder
      var names: [String] = []
      try Self.list(path, "", depth: 0, into: &names)
      self.names = names.sorted()
      return
    }
    let file = try OpenFile(path)
    if try file.read(at: 0, count: 2) == ZipArchive.signature {
      let archive = try ZipArchive(file)
      place = .archive(archive)
      names = archive.entries.keys.sorted()
    } else {
      place = .file(file)
      names = [path.split(separator: "/").last.map(String.init) ?? path]
    }
  }

  /// Lists folders in folders; links are not followed.
  private static func list(
    _ path: String, _ prefix: String, depth: Int, into names: inout [String]
  ) throws(UnreadableExport) {
    guard depth <= ImportLimits.folderDepth else {
      throw UnreadableExport(
        path,
        "is deeper than \(ImportLimits.folderDepth) folders; name the folder that has the files")
    }
    guard let own = PrivateFiles.names(in: path) else {
      throw UnreadableExport(path, "cannot be read: \(SystemError.last("open").reason)")
    }
    for name in own {
      var status = stat()
      guard unsafe lstat("\(path)/\(name)", &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: try list("\(path)/\(name)", "\(prefix)\(name)/", depth: depth + 1, into: &names)
      case S_IFREG: names.append("\(prefix)\(name)")
      default: continue
      }
      guard names.count <= ImportLimits.files else {
        throw UnreadableExport(path, "has more than \(ImportLimits.files) files")
      }
    }
  }

  /// Returns a file's name for the operator: with the folder or the archive that has it.
  func shown(_ name: String) -> String {
    switch place {
    case .folder: "\(path)/\(name)"
    case .archive: "\(path), \(name)"
    case .file: path
    }
  }

  /// - Parameter name: one of `names`.
  func open(_ name: String) throws(UnreadableExport) -> ExportStream {
    switch place {
    case .folder: return ExportStream(try OpenFile(shown(name), isListed: true))
    case .file(let file): return ExportStream(file)
    case .archive(let archive):
      guard let entry = archive.entries[name] else {
        throw UnreadableExport(path, "has no file \(name)")
      }
      return try ExportStream(entry, named: name, in: archive)
    }
  }

  func lines(of name: String, limitBytes: Int) throws(UnreadableExport) -> ExportLines {
    ExportLines(try open(name), limitBytes: limitBytes)
  }
}
