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
      return try Settings.read(try WholeFile.read(path, limitBytes: limitBytes), file: path)
    } catch let error as SystemError {
      if error.code == ENOENT, name == nil { return Settings() }
      throw ValidationError("\(error)")
    } catch let error as SettingsError {
      throw ValidationError("\(error)")
    }
  }
}
