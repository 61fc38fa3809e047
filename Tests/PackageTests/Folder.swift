import Glibc
import TestSupport

/// A folder of the project.
struct Folder {
  /// The project's own folder.
  static let package = Folder(Project.path)

  let path: String

  init(_ path: String) { self.path = path }

  func folder(_ name: String) -> Folder { Folder("\(path)/\(name)") }

  var folders: [String] { entries.filter { $0.isFolder }.map(\.name) }

  var fileNames: [String] { entries.filter { !$0.isFolder }.map(\.name) }

  /// The files in it, also those of the folders within.
  var swiftFiles: [SourceFile] {
    entries.flatMap { entry -> [SourceFile] in
      if entry.isFolder { return folder(entry.name).swiftFiles }
      return entry.name.hasSuffix(".swift") ? [SourceFile(path: "\(path)/\(entry.name)")] : []
    }
  }

  /// Names in the folder and in the folders within that differ from another one only in case.
  var clashes: [String] {
    let names = Dictionary(grouping: entries.map(\.name)) { $0.lowercased() }
    let here = names.values.filter { $0.count > 1 }.flatMap { $0 }.sorted()
    return here.map { "\(path)/\($0)" } + folders.flatMap { folder($0).clashes }
  }

  private var entries: [(name: String, isFolder: Bool)] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var entries: [(name: String, isFolder: Bool)] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name.hasPrefix(".") { continue }
      entries.append((name, unsafe entry.pointee.d_type == UInt8(DT_DIR)))
    }
    return entries.sorted { $0.name < $1.name }
  }
}
