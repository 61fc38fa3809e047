import ArgumentParser
import Glibc
import Platform
import Messenger

/// The user's configuration file.
enum ConfigurationFile {
  private static let limitBytes = 1 << 20

  private static func path(named name: String?) -> String? {
    name
      ?? Environment.folder("XDG_CONFIG_HOME", inHome: ".config").map {
        "\($0)/wschat/config.yaml"
      }
  }

  /// Reads the file; returns the defaults if it does not exist and none was named. Each login has a
  /// profile, also one that the file does not have.
  static func read(named name: String?, profile: String?) throws -> Settings {
    let settings = try readWithLogins(named: name, tell: complain)
    guard let profile else { return settings }
    do {
      return try settings.choosing(
        profile: profile, file: path(named: name) ?? "the configuration")
    } catch {
      throw ValidationError("\(error)")
    }
  }

  /// Returns the names of the profiles for the completion of a shell, which passes the words that
  /// were typed.
  static func profiles(typed words: [String]) -> [String] {
    var name: String?
    for (index, word) in words.enumerated() {
      if word == "--config", index + 1 < words.count { name = words[index + 1] }
      if word.hasPrefix("--config=") { name = String(word.dropFirst("--config=".count)) }
    }
    // On the line that is typed, there is no place for complaints.
    return (try? readWithLogins(named: name) { _ in })?.profiles.map(\.name) ?? []
  }

  private static func readWithLogins(
    named name: String?, tell: (String) -> Void
  ) throws -> Settings {
    var settings = try read(named: name)
    let common = settings
    guard let logins = Logins.own else { return settings }
    for profile in logins.profiles where !settings.profiles.contains(where: { $0.name == profile })
    {
      guard let login = logins.usable(profile, tell: tell) else { continue }
      var own = common
      (own.url, own.isProfilesURL, own.user, own.tokenCommand) = ("\(login.url)", true, nil, nil)
      own.ca = login.ca ?? common.ca
      own.profiles = []
      settings.profiles.append(.init(name: profile, settings: own))
    }
    return settings
  }

  private static func read(named name: String?) throws -> Settings {
    guard let path = path(named: name) else { return Settings() }
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
