extension Grid {
  /// A web page that a click on its cells opens (OSC 8, "Hyperlinks in terminal emulators"). The
  /// cells have its number in the grid, `Style.link`.
  public struct Link: Hashable, Sendable {
    /// The limit of VTE and iTerm2: they take a longer one for no link.
    public static let urlLimitBytes = 2083

    /// Joins cells that are apart, as where a link is wrapped: terminals highlight at once what has
    /// the same id and URL. The same in all frames, because only the cells that change are written.
    let id: UInt32
    /// Has only the bytes 0x21 to 0x7E, so it cannot end the sequence or begin another.
    let url: String

    /// Percent-encodes what is not ASCII (RFC 3987 §3.1).
    /// - Returns: nil if it is not `http` or `https`, is too long, or has control characters, which
    ///   are in no link that a person wrote.
    public init?(_ url: some StringProtocol, id: UInt32) {
      guard url.utf8.count <= Self.urlLimitBytes else { return nil }
      var written: [UInt8] = []
      for scalar in url.unicodeScalars {
        switch scalar.value {
        case 0x21...0x7E: written.append(UInt8(scalar.value))
        case 0..<0x20, 0x7F..<0xA0: return nil
        default:
          for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
            written.append(UInt8(ascii: "%"))
            written.append(Self.digits[Int(byte >> 4)])
            written.append(Self.digits[Int(byte & 15)])
          }
        }
      }
      let scheme = written.prefix(8).map { $0 | 0x20 }
      guard written.count <= Self.urlLimitBytes,
        scheme.starts(with: "http://".utf8) || scheme.starts(with: "https://".utf8)
      else { return nil }
      self.id = id
      self.url = String(decoding: written, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
  }

  /// The most links of a frame; the text of others is no link.
  public static let linkLimit = 254
  /// The number in an earlier frame of a link that is not in this one.
  private static let lostLink: UInt8 = 255

  /// The same for a cell of which the terminal shows something else.
  static let spoiledLink = lostLink

  /// Returns the number of a link, for `Style.link`; 0 if there are too many.
  public mutating func number(of link: Link) -> UInt8 {
    if let index = links.firstIndex(of: link) { return UInt8(index + 1) }
    guard links.count < Self.linkLimit else { return 0 }
    links.append(link)
    return UInt8(links.count)
  }

  /// Gives the links the numbers that they have in another frame, so that cells can be compared.
  mutating func renumberLinks(as next: [Link]) {
    if links == next { return }
    let numbers = links.map { link in
      next.firstIndex(of: link).map { UInt8($0 + 1) } ?? Self.lostLink
    }
    links = next
    if numbers.enumerated().allSatisfy({ $0.offset + 1 == Int($0.element) }) { return }
    changeLinks { numbers[Int($0) - 1] }
  }
}

extension Pen {
  /// Makes the next cells part of a link, or of none; the number is that of its frame.
  mutating func changeLink(to number: UInt8, of links: [Grid.Link], into bytes: inout [UInt8]) {
    // Without links in the frame none is written: they are turned off.
    let next = Int(number) <= links.count ? number : 0
    if next == link { return }
    guard next > 0 else { return endLink(into: &bytes) }
    link = next
    let target = links[Int(next) - 1]
    bytes.append(ascii: "\u{1B}]8;id=")
    bytes.append(decimal: Int(target.id))
    bytes.append(ascii: ";")
    bytes.append(contentsOf: target.url.utf8)
    bytes.append(ascii: "\u{1B}\\")
  }

  mutating func endLink(into bytes: inout [UInt8]) {
    if link == 0 { return }
    link = 0
    bytes.append(ascii: Self.linkEnd)
  }

  static let linkEnd: StaticString = "\u{1B}]8;;\u{1B}\\"
}
