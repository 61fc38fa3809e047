internal import YAML

extension Settings {
  /// Reads a configuration file's contents; what it does not name has its default.
  ///
  /// - Parameter file: what the file is called in messages.
  public static func read(_ bytes: [UInt8], file: String) throws(SettingsError) -> Settings {
    var reader = SettingsReader()
    reader.read(YAMLDocument(bytes))
    guard reader.problems.isEmpty else {
      throw SettingsError(file: file, problems: reader.problems.sorted { $0.line < $1.line })
    }
    return reader.settings
  }
}
