internal import YAML

extension Settings {
  /// Parses a configuration file; a missing key has its default.
  ///
  /// - Parameter file: The file's name in messages.
  public static func read(_ bytes: [UInt8], file: String) throws(SettingsError) -> Settings {
    var reader = SettingsReader()
    reader.read(YAMLDocument(bytes))
    guard reader.problems.isEmpty else {
      throw SettingsError(file: file, problems: reader.problems.sorted { $0.line < $1.line })
    }
    return reader.settings
  }

  /// Returns these settings with another value of a key, written as in the file.
  func changing(key: String, to value: String) throws(SettingsError) -> Settings {
    var reader = SettingsReader(settings: self)
    reader.read(YAMLDocument(Array("\(key): \(value)".utf8)))
    guard reader.problems.isEmpty else {
      throw SettingsError(file: "/set", problems: reader.problems)
    }
    return reader.settings
  }
}
