internal import YAML

extension Settings {
  /// An account of the configuration file: its name, and the settings that it has, those that it
  /// inherits included.
  public struct Profile: Equatable, Sendable {
    public var name: String
    public var settings: Settings

    /// For the names of all profiles.
    static let limit = 64

    public init(name: String, settings: Settings) {
      (self.name, self.settings) = (name, settings)
    }
    public static let nameLimitBytes = 64

    public static func isName(_ text: String) -> Bool {
      1...nameLimitBytes ~= text.utf8.count
        && text.utf8.allSatisfy {
          switch $0 {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
          default: false
          }
        }
    }
  }

  /// No profile has the name that was given; prints as a sentence without a full stop.
  public struct UnknownProfile: Error, Equatable, Sendable, CustomStringConvertible {
    public var description: String
  }

  /// Returns the settings of a profile.
  ///
  /// - Parameter file: The file's name in messages.
  public func choosing(profile name: String, file: String) throws(UnknownProfile) -> Settings {
    if let profile = profiles.first(where: { $0.name == name }) {
      var settings = profile.settings
      settings.profile = name
      return settings
    }
    let names = profiles.map(\.name)
    let start = "there is no profile \"\(name)\" in \(file)"
    if names.isEmpty {
      throw UnknownProfile(description: "\(start), which has no profiles: add it under profiles")
    }
    let nearest = Spelling.nearest(to: name, among: names).map { "did you mean \($0)? " } ?? ""
    throw UnknownProfile(
      description: "\(start); \(nearest)known: \(names.joined(separator: ", "))")
  }
}
