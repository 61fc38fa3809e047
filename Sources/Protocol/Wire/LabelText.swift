/// Text that people see outside of messages: names of persons, devices and rooms, topics, reasons.
public enum LabelText {
  /// Whether a text is one line without control characters and without characters that change the
  /// direction of text: it cannot make what stands beside it look like something else.
  public static func isOneLine(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      case ..<32, 127...159, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F,
        0x061C:
        false
      default: true
      }
    }
  }

  /// Whether a text has something to see.
  public static func isVisible(_ text: String) -> Bool {
    text.unicodeScalars.contains { !$0.isBlank }
  }

  /// Whether a text is one line, as above, of 1 to `bytes` bytes of UTF-8, with something to see.
  public static func isName(_ text: String, bytes: Int) -> Bool {
    (1...bytes).contains(text.utf8.count) && isOneLine(text) && isVisible(text)
  }
}

extension Unicode.Scalar {
  /// Whether the scalar by itself shows nothing: white space, and what is ignored in display, such
  /// as joiners, variation selectors and bidirectional marks.
  var isBlank: Bool { properties.isWhitespace || properties.isDefaultIgnorableCodePoint }
}
