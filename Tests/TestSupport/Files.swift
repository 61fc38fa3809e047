import Glibc
import Platform

/// Reads a whole file as text.
public func readFile(_ path: String) throws -> String {
  String(decoding: try readBytes(path), as: UTF8.self)
}

/// Reads a whole file. Files in /proc, whose size is 0, are read to their end too.
public func readBytes(_ path: String) throws -> [UInt8] { try WholeFile.read(path) }

/// Lists the names in a folder, sorted, without `.` and `..`.
public func fileNames(in folder: String) throws -> [String] {
  guard let stream = unsafe opendir(folder) else { throw SystemError.last("opendir \(folder)") }
  defer { unsafe closedir(stream) }
  var names: [String] = []
  while let entry = unsafe readdir(stream) {
    let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
      unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names.sorted()
}

/// Returns the permission bits of a file or folder.
public func permissions(of path: String) throws -> UInt32 {
  var status = stat()
  guard unsafe stat(path, &status) == 0 else { throw SystemError.last("stat \(path)") }
  return status.st_mode & 0o777
}
