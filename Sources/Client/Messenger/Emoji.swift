/// Emoji by the names that people know from other messengers (`:smile:`).
public struct Emoji: Equatable, Sendable {
  /// What it looks like.
  public var emoji: String
  /// Its name, without the colons.
  public var code: String

  /// Those to react with, the likeliest first.
  public static let quick = ["👍", "❤️", "😂", "🎉", "😮", "😢", "🙏", "🔥", "👀", "👎"]

  /// All that have a name, the likeliest of a kind first.
  public static let all: [Emoji] = table.split(separator: ",").flatMap { entry -> [Emoji] in
    let words = entry.split(whereSeparator: \.isWhitespace).map(String.init)
    return words.dropFirst().map { Emoji(emoji: words[0], code: $0) }
  }

  /// Those whose name begins with some letters, then those of whose name a later word does; one of
  /// several names of the same emoji.
  public static func matching(_ letters: String) -> [Emoji] {
    let letters = letters.lowercased()
    let starts = all.filter { $0.code.hasPrefix(letters) }
      .sorted { ($0.code == letters ? 0 : 1) < ($1.code == letters ? 0 : 1) }
    let inner = all.filter { !$0.code.hasPrefix(letters) && $0.code.contains("_\(letters)") }
    var seen: Set<String> = []
    return (starts + inner).filter { seen.insert($0.emoji).inserted }
  }
}
