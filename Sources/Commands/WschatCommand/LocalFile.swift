import Glibc
import Platform
import Wire

/// A file of this machine that is to be sent or saved, by the path that the user has given.
enum LocalFile {
  /// Why a file is not saved; prints as a sentence without a full stop.
  enum NotSaved: Error, CustomStringConvertible {
    case exists(String)
    case system(SystemError)

    var description: String {
      switch self {
      case .exists(let path): "\(path) exists already; write /save with another path"
      case .system(let error): "\(error)"
      }
    }
  }

  /// The most paths that are offered for a word.
  static let offeredLimit = 8
  /// How many names are tried for a file whose name is taken.
  private static let copiesLimit = 100
  /// How many names a download tries for what has arrived.
  private static let draftsLimit = 100
  private static let endingLimitBytes = 32

  /// Returns the path with the home folder in place of a `~` at its start.
  static func expanded(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/"), let home = Environment["HOME"] else { return path }
    return home + path.dropFirst()
  }

  /// Returns the path with a `~` in place of the home folder.
  static func shown(_ path: String) -> String {
    guard let home = Environment["HOME"], home.count > 1, path.hasPrefix("\(home)/") else {
      return path
    }
    return "~\(path.dropFirst(home.count))"
  }

  /// Returns the name under which a file is sent or saved: that of its path, where it can be one.
  static func name(of path: String) -> String {
    let last = path.split(separator: "/").last.map(String.init) ?? ""
    if FileContent.isValid(name: last) { return last }
    var name = ""
    for character in last {
      let next = FileContent.isValid(name: "x\(character)") ? character : "_"
      guard name.utf8.count + next.utf8.count <= FileContent.nameLimitBytes else { break }
      name.append(next)
    }
    return FileContent.isValid(name: name) ? name : "file"
  }

  // MARK: Sending

  /// What tells whether a file is still the same.
  struct Facts: Equatable {
    var sizeBytes: Int64
    /// Nanoseconds since 1970.
    var modifiedAt: Int64
  }

  /// Returns the size of a file that can be read, and when it was changed; throws for whatever is no file.
  static func facts(of path: String) throws(SystemError) -> Facts {
    var status = stat()
    guard unsafe stat(path, &status) == 0, unsafe access(path, R_OK) == 0 else {
      throw SystemError.last("open \(path)")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SystemError("open \(path)", code: isFolder(path) ? EISDIR : EINVAL)
    }
    let time = status.st_mtim
    return Facts(
      sizeBytes: Int64(status.st_size),
      modifiedAt: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Returns the path from the root, which stays right wherever the program starts next.
  static func absolute(_ path: String) throws(SystemError) -> String {
    guard let resolved = unsafe realpath(path, nil) else { throw .last("open \(path)") }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Returns the paths that begin like this, at most `offeredLimit`; those of folders end with `/`.
  static func paths(for start: String) -> [String] {
    let split = start.lastIndex(of: "/").map { start.index(after: $0) } ?? start.startIndex
    let (folder, begun) = (String(start[..<split]), start[split...])
    let names = PrivateFiles.names(in: folder.isEmpty ? "." : expanded(folder)) ?? []
    return
      names.filter {
        // Others could not be typed.
        $0.hasPrefix(begun) && ($0.first != "." || begun.first == ".")
          && FileContent.isValid(name: $0)
      }
      .sorted().prefix(offeredLimit)
      .map { "\(folder)\($0)\(isFolder(expanded("\(folder)\($0)")) ? "/" : "")" }
  }

  // MARK: Saving

  /// Returns the name under which a file of a message is kept: its own, or a shorter one with the same ending, so that
  /// what a copy or an unfinished download adds is no more than a file system takes. It is neither hidden nor read as
  /// an option, whatever its sender has called it.
  static func keptName(_ name: String) -> String {
    let name = plain(Self.name(of: name))
    let limitBytes = FileContent.nameLimitBytes - "-\(copiesLimit)-\(draftsLimit).part".utf8.count
    if name.utf8.count <= limitBytes { return name }
    let dot = ending(of: name)
    let end = name[dot...].utf8.count <= endingLimitBytes ? dot : name.endIndex
    let ending = name[end...]
    var stem = name[..<end]
    while stem.utf8.count + ending.utf8.count > limitBytes { stem.removeLast() }
    return plain("\(stem)\(ending)")
  }

  /// Returns a name without dots, hyphens and blanks at its start, and without dots and blanks at its end, which other
  /// systems do not take.
  private static func plain(_ name: String) -> String {
    // With a combining character a dot is another character, and still hides the file.
    let start = name.unicodeScalars.drop { $0 == "." || $0 == "-" || $0.properties.isWhitespace }
    let end = start.lastIndex { $0 != "." && !$0.properties.isWhitespace }
    return Self.name(of: end.map { String(start[...$0]) } ?? "")
  }

  /// Where the ending of a name begins, with its dot; its end if it has none.
  private static func ending(of name: String) -> String.Index {
    name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
  }

  /// Creates an empty file where one is saved, which the download replaces: no other file is.
  /// - Parameter path: A file that does not exist, or a folder; `nil` for the folder of downloads, or
  ///   the current one if there is none. In a folder the file gets a free name.
  static func reserve(_ name: String, at path: String?) throws(NotSaved) -> String {
    let path = expanded(path ?? (isFolder(expanded("~/Downloads")) ? "~/Downloads" : "."))
    guard isFolder(path) else {
      if try create(path) { return path }
      throw .exists(path)
    }
    let folder = path.hasSuffix("/") ? path : "\(path)/"
    let dot = ending(of: name)
    for number in 1...copiesLimit {
      let free = number == 1 ? name : "\(name[..<dot])-\(number)\(name[dot...])"
      if try create("\(folder)\(free)") { return "\(folder)\(free)" }
    }
    throw .exists("\(folder)\(name)")
  }

  /// - Returns: Whether there was no such file, nor that of an unfinished download.
  private static func create(_ path: String) throws(NotSaved) -> Bool {
    if unsafe access("\(path).part", F_OK) == 0 { return false }
    let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      close(descriptor)
      return true
    }
    let error = SystemError.last("create \(path)")
    guard error.code == EEXIST else { throw .system(error) }
    return false
  }

  /// Removes a file that was reserved, or downloaded in part.
  static func remove(_ path: String) { _ = unsafe unlink(path) }
}
