import Terminal

/// Breaks a text into lines by display width, between words if possible.
///
/// Spaces at a break belong to neither line; those at the start of a paragraph stay. A word that is
/// longer than a line is broken anywhere. Wide characters (CJK) may be separated, but closing
/// punctuation never begins a line.
enum Wrapping {
  private struct Cluster {
    /// The offset of its first byte in the text.
    var offset: Int
    var width: UInt8
    var kind: Kind
  }

  private enum Kind: UInt8 { case word, space, wide, closing, lineBreak }

  /// Returns the lines of a text that was cleaned by `ShownText.lines`; never empty.
  static func lines(of text: String, columns: Int) -> [Substring] {
    if text.utf8.count <= columns, !text.utf8.contains(UInt8(ascii: "\n")) { return [text[...]] }
    return cut(clusters(of: text), bytes: text.utf8.count, columns: max(1, columns)).map {
      let start = text.utf8.index(text.startIndex, offsetBy: $0.lowerBound)
      return text[start..<text.utf8.index(start, offsetBy: $0.count)]
    }
  }

  private static func clusters(of text: String) -> [Cluster] {
    var clusters: [Cluster] = []
    clusters.reserveCapacity(text.utf8.count)
    var index = text.utf8.startIndex
    var offset = 0
    while index < text.utf8.endIndex {
      let byte = text.utf8[index]
      let after = text.utf8.index(after: index)
      // ASCII that nothing combines with: the common case.
      if byte < 0x80, after == text.utf8.endIndex || text.utf8[after] < 0x80 {
        let kind: Kind =
          switch byte {
          case UInt8(ascii: " "): .space
          case UInt8(ascii: "\n"): .lineBreak
          default: .word
          }
        clusters.append(Cluster(offset: offset, width: kind == .lineBreak ? 0 : 1, kind: kind))
        offset += 1
        index = after
        continue
      }
      let character = text[index]
      let width = TextWidth.columns(of: character)
      let kind: Kind =
        switch byte {
        case UInt8(ascii: " "): .space
        case UInt8(ascii: "\n"): .lineBreak
        default: width < 2 ? .word : isClosing(character) ? .closing : .wide
        }
      clusters.append(Cluster(offset: offset, width: UInt8(width), kind: kind))
      offset += character.utf8.count
      index = text.index(after: index)
    }
    return clusters
  }

  /// Whether a character must not begin a line (the most common ones of JIS X 4051).
  private static func isClosing(_ character: Character) -> Bool {
    switch character.unicodeScalars.first {
    case "、", "。", "，", "．", "！", "？", "）", "」", "』", "】", "：", "；": true
    default: false
    }
  }

  private static func cut(_ clusters: [Cluster], bytes: Int, columns: Int) -> [Range<Int>] {
    var lines: [Range<Int>] = []
    /// The start of the line; the last possible end so far, and the start of the next line after
    /// it.
    var start = 0
    var end: Int?
    var next = 0
    var width = 0
    /// The columns since `next`.
    var tail = 0
    /// The end of the last word: indentation alone does not form a line.
    var word = 0
    var index = 0

    func offset(_ index: Int) -> Int {
      index < clusters.count ? clusters[index].offset : bytes
    }
    func finish(at index: Int, next following: Int) {
      lines.append(offset(start)..<offset(index))
      start = following
      end = nil
      width = 0
      tail = 0
    }

    while index < clusters.count {
      let cluster = clusters[index]
      if cluster.kind == .lineBreak {
        finish(at: index, next: index + 1)
        index += 1
        continue
      }
      let isFirst = index == start
      let before = isFirst ? nil : clusters[index - 1].kind
      if cluster.kind == .wide, let before, before != .space {
        (end, next, tail) = (index, index, 0)
      } else if cluster.kind == .word, before == .wide || before == .closing {
        (end, next, tail) = (index, index, 0)
      }
      if !isFirst, width + Int(cluster.width) > columns {
        if cluster.kind == .space {
          var after = index
          while after < clusters.count, clusters[after].kind == .space { after += 1 }
          // A line break here ends this line, not another empty one.
          if after < clusters.count, clusters[after].kind == .lineBreak { after += 1 }
          finish(at: index, next: after)
          index = after
          if after == clusters.count, clusters[after - 1].kind != .lineBreak { return lines }
          continue
        }
        if let cut = end {
          let rest = tail
          finish(at: cut, next: next)
          width = rest
        } else {
          finish(at: index, next: index)
        }
        if index == start { continue }
      }
      width += Int(cluster.width)
      tail += Int(cluster.width)
      if cluster.kind == .space {
        if word > start { (end, next, tail) = (word, index + 1, 0) }
      } else {
        word = index + 1
      }
      index += 1
    }
    lines.append(offset(start)..<bytes)
    return lines
  }
}
