import Mixing
import Terminal

/// The links of messages, for a terminal that opens them at a click.
extension MessageLayout {
  typealias ShownLink = (range: Range<String.Index>, link: Grid.Link)

  /// Returns the links of a shown text; none if the terminal has none, or the user does not want
  /// them.
  func links(in text: String, of message: Message) -> [ShownLink] {
    guard chat.showsLinks, text.utf8.contains(UInt8(ascii: ":")) else { return [] }
    return Links.find(in: text).enumerated().compactMap { index, range in
      // Two links of one address are told apart, and the parts of each belong together.
      let name = "\(message.key.from)/\(message.key.id)/\(index)"
      return Grid.Link(text[range], id: UInt32(truncatingIfNeeded: FNV1a.hash(name)))
        .map { (range, $0) }
    }
  }

  /// Appends a part of a text to a row, with the links that it has a part of.
  func append(_ part: Substring, of links: [ShownLink], _ style: Style, to row: inout Row) {
    var index = part.startIndex
    for (range, link) in links
    where range.upperBound > index && range.lowerBound < part.endIndex {
      let start = max(index, range.lowerBound)
      let end = min(part.endIndex, range.upperBound)
      if index < start { row.append(part[index..<start], style) }
      row.append(part[start..<end], style, link: link)
      index = end
    }
    if index < part.endIndex { row.append(part[index...], style) }
  }
}
