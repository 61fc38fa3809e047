import Glibc
import Platform

/// The bytes of files in a folder, under their SHA-256: files with the same bytes share them.
package struct FolderBytes: FileBytes {
  let folder: FileFolder

  package var description: String { folder.path }

  package init(folder: FileFolder) { self.folder = folder }

  package func place(of name: String) -> String { folder.stored(name) }

  package var check: String { "its disk" }
  package var isShared: Bool { false }

  package var countedBytes: Int64 {
    folder.folders.flatMap(folder.hashes).reduce(0) { $0 + size(of: folder.stored($1)) }
  }

  package func name(ofHash hash: String) -> String { hash }

  package func store(_ path: String, as name: String) throws(FileBytesError) -> Int64 {
    do throws(SystemError) {
      return try folder.store(path, as: name) ? size(of: path) : 0
    } catch {
      throw FileBytesError(error)
    }
  }

  package func read(
    _ name: String, at offset: Int64, bytes limit: Int
  ) throws(FileBytesError) -> (bytes: [UInt8], size: Int64)? {
    do throws(SystemError) {
      return try folder.disk.read(folder.stored(name), at: offset, bytes: limit)
    } catch {
      if error.code == ENOENT { return nil }
      throw FileBytesError(error)
    }
  }

  package func remove(_ name: String) throws(FileBytesError) -> Int64 {
    let size = size(of: folder.stored(name))
    folder.remove(folder.stored(name))
    return size
  }

  /// A place is the name of a folder, after which the search goes on.
  package func names(
    storedBefore time: Int64, from place: String
  ) throws(FileBytesError) -> (names: [String], next: String?) {
    guard let next = folder.folders.filter({ $0 > place }).min() else { return ([], nil) }
    let names = folder.hashes(in: next).filter { hash in
      folder.status(of: folder.stored(hash)).map { $0.writtenAt <= time } ?? false
    }
    return (names, next)
  }

  private func size(of path: String) -> Int64 { folder.status(of: path)?.size ?? 0 }
}
