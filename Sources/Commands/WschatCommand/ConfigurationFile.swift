import ArgumentParser
import Glibc
import Platform
import Messenger

/// The user's configuration file.
enum ConfigurationFile {
  private static let limitBytes = 1 << 20

  /// Reads the file; returns the defaults if it does not exist and none was named.
  static func read(named name: String?) throws -> Settings {
    guard
      let path = name
        ?? Environment.folder("XDG_CONFIG_HOME", inHome: ".config").map({
          "\($0)/wschat/config.yaml"
        })
    else { return Settings() }
    do {
      return try Settings.read(try contents(of: path), file: path)
    } catch let error as SystemError {
      if error.code == ENOENT, name == nil { return Settings() }
      throw ValidationError("\(path): \(error)")
    } catch let error as SettingsError {
      throw ValidationError("\(error)")
    }
  }

  private static func contents(of path: String) throws(SystemError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError.last("open") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: limitBytes)
    var count = 0
    while count < bytes.count {
      let result = unsafe bytes.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress.map { unsafe $0 + count }, $0.count - count)
      }
      if result < 0, errno == EINTR { continue }
      if result < 0 { throw SystemError.last("read") }
      if result == 0 { break }
      count += result
    }
    if count == limitBytes { throw SystemError("read at most 1 MiB", code: EFBIG) }
    return Array(bytes.prefix(count))
  }
}
