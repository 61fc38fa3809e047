/// Cleans text that is inserted into an editor.
enum TextCleaning {
  /// Returns the lines, without line breaks and without control characters except tabs.
  /// - Parameter joined: Whether to join them into one line.
  static func lines(of text: String, joined: Bool) -> [String] {
    var text = text
    return text.withUTF8 { bytes in unsafe lines(of: bytes, joined: joined) }
  }

  private static func lines(of bytes: UnsafeBufferPointer<UInt8>, joined: Bool) -> [String] {
    var lines: [String] = []
    var line: [UInt8] = []
    line.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let byte = unsafe bytes[index]
      let next = unsafe index + 1 < bytes.count ? bytes[index + 1] : 0
      let third = unsafe index + 2 < bytes.count ? bytes[index + 2] : 0
      // Whether the UTF-8 sequence here is a control character or a line break, and its length.
      var (isControl, isBreak, length) = (false, false, 1)
      switch byte {
      case 0x0D where next == 0x0A: (isBreak, length) = (true, 2)
      case 0x0A, 0x0D: isBreak = true
      case 0x09: isControl = false
      case 0..<0x20, 0x7F: isControl = true
      case 0xC2 where next == 0x85: (isBreak, length) = (true, 2)
      case 0xC2 where next < 0xA0: (isControl, length) = (true, 2)
      case 0xE2 where next == 0x80 && (third == 0xA8 || third == 0xA9):
        (isBreak, length) = (true, 3)
      default: break
      }
      index += length
      if isBreak, !joined {
        lines.append(String(decoding: line, as: UTF8.self))
        line.removeAll(keepingCapacity: true)
      } else if isBreak || (byte == 0x09 && joined) {
        line.append(0x20)
      } else if !isControl {
        line.append(byte)
      }
    }
    return lines + [String(decoding: line, as: UTF8.self)]
  }
}
