/// An emoji with its usual short code (`:smile:`).
public struct Emoji: Equatable, Sendable {
  public var emoji: String
  /// Its short code, without the colons.
  public var code: String

  public init(emoji: String, code: String) {
    self.emoji = emoji
    self.code = code
  }

  /// The emoji offered for reactions, the most likely first.
  public static let quick = ["👍", "❤️", "😂", "🎉", "😮", "😢", "🙏", "🔥", "👀", "👎"]

  /// All emoji with their short codes, the most likely of a kind first.
  public static let all: [Emoji] = table.split(separator: ",").flatMap { entry in
    let words = entry.prefix { $0 != "|" }.split(whereSeparator: \.isWhitespace).map(String.init)
    return words.dropFirst().map { Emoji(emoji: words[0], code: $0) }
  }

  /// The text between the backticks of emoji-table.js, which the web page has as well.
  private static let table = String(decoding: PackageResources.emoji_table_js, as: UTF8.self)
    .split(separator: "`")[1]

  /// Returns the emoji whose code begins with these letters, then those in which a later word does;
  /// each emoji with one of its codes.
  public static func matching(_ letters: String) -> [Emoji] {
    let letters = letters.lowercased()
    let starts = all.filter { $0.code.hasPrefix(letters) }
      .sorted { ($0.code == letters ? 0 : 1) < ($1.code == letters ? 0 : 1) }
    let inner = all.filter { !$0.code.hasPrefix(letters) && $0.code.contains("_\(letters)") }
    var seen: Set<String> = []
    return (starts + inner).filter { seen.insert($0.emoji).inserted }
  }
}
