import Glibc
import Platform

/// A folder for one test, removed with all its content when the object is released.
public final class TemporaryFolder: Sendable {
  public let path: String

  /// Whether folders outlive their tests, for a person to look at them.
  public static let areKept = unsafe getenv("KEEP_TEST_FOLDERS") != nil

  public init() throws {
    var template = Array("/tmp/relay-test.XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { if Self.areKept { print("kept: \(path)") } else { Self.remove(path) } }

  /// Returns the path of a file in the folder. The file need not exist.
  public subscript(name: String) -> String { "\(path)/\(name)" }

  /// The names of the files and folders in it, sorted; empty if the folder is gone.
  public var names: [String] { (try? fileNames(in: path)) ?? [] }

  /// Changes one bit of a file, as a disk may.
  public func flip(_ bit: UInt8, ofByte place: Int, in name: String) throws {
    guard let file = unsafe fopen(self[name], "r+b") else {
      throw SystemError.last("fopen \(self[name])")
    }
    defer { unsafe fclose(file) }
    unsafe fseek(file, place, SEEK_SET)
    let byte = unsafe fgetc(file)
    unsafe fseek(file, place, SEEK_SET)
    unsafe fputc(byte ^ 1 << Int32(bit), file)
  }

  /// Writes a text file; see `write(_:to:)` for bytes.
  public func write(_ text: String, to name: String) throws {
    try write(Array(text.utf8), to: name)
  }

  /// Creates or replaces a file that only its owner may read. Its folders are created where they
  /// are missing. The file is replaced by a rename, as editors do: readers never see a part of it.
  public func write(_ bytes: [UInt8], to name: String) throws {
    for end in name.indices where name[end] == "/" {
      unsafe mkdir(self[String(name[..<end])], 0o700)
    }
    let new = self["\(name)~"]
    try WholeFile.write(bytes, to: new, permissions: 0o600)
    guard unsafe rename(new, self[name]) == 0 else { throw SystemError.last("rename \(new)") }
  }

  /// Reads a text file.
  public func read(_ name: String) throws -> String { try readFile(self[name]) }

  /// Returns the permission bits of a file or folder in it.
  public func permissions(of name: String) throws -> UInt32 {
    try TestSupport.permissions(of: self[name])
  }

  /// Removes a file, or a folder with its content. Links are not followed.
  private static func remove(_ path: String) {
    if unsafe unlink(path) == 0 { return }
    for name in (try? fileNames(in: path)) ?? [] { remove("\(path)/\(name)") }
    unsafe rmdir(path)
  }
}
