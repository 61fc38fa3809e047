internal import Glibc
internal import Platform

/// The files that a restore is writing.
struct RestoredFiles {
  private let folder: String
  /// Which pages of a file were written.
  private var written: [String: [Bool]] = [:]

  init(in folder: String) { self.folder = folder }

  /// Writes the pages of an object.
  mutating func write(
    _ object: BackupObject, _ contents: [ArraySlice<UInt8>]
  ) throws(BackupError) {
    for place in object.files.indices {
      let file = object.files[place]
      let pages = zip(object.pages, contents).filter { $0.0.file == place }
      if pages.isEmpty { continue }
      try change(file.name) { descriptor throws(SystemError) in
        for (page, content) in pages {
          let offset = (page.number - 1) * file.pageBytes
          let count = unsafe content.withUnsafeBufferPointer {
            unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
          }
          guard count == content.count else {
            throw count < 0 ? .last("write") : SystemError("write", code: ENOSPC)
          }
        }
      }
      for (page, _) in pages { markWritten(page.number, of: file.name) }
    }
  }

  private mutating func markWritten(_ page: Int, of file: String) {
    let count = written[file]?.count ?? 0
    if page > count {
      written[file, default: []] += Array(repeating: false, count: page - count)
    }
    written[file]?[page - 1] = true
  }

  /// Gives the files the sizes that they have in a point, and removes others.
  /// - Throws: if a page is missing.
  mutating func finish(_ point: BackupObject, named name: String) throws(BackupError) {
    for file in point.files {
      let pages = (written[file.name] ?? []).prefix(file.pageCount)
      guard pages.count == file.pageCount, pages.allSatisfy({ $0 }) else {
        throw BackupError(
          .damaged,
          "The backup does not have all pages of \(file.name) as of the object \(name). Restore an earlier "
            + "point (--at), or another backup.")
      }
      try change(file.name) { descriptor throws(SystemError) in
        guard ftruncate(descriptor, off_t(file.bytes)) == 0 else { throw .last("truncate") }
        guard fsync(descriptor) == 0 else { throw .last("fsync") }
      }
    }
    for file in written.keys where !point.files.contains(where: { $0.name == file }) {
      _ = unsafe unlink("\(folder)/\(file)")
    }
  }

  private func change(
    _ name: String, _ body: (Int32) throws(SystemError) -> Void
  ) throws(BackupError) {
    let path = "\(folder)/\(name)"
    do throws(SystemError) {
      let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw .last("open") }
      defer { close(descriptor) }
      try body(descriptor)
    } catch {
      throw .unwritable(path, error)
    }
  }
}
