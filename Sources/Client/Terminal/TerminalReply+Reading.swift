extension TerminalReply {
  /// Decodes a control sequence that is a reply; nil for replies to other queries.
  init?(_ parameters: Parameters, final: UInt8) {
    switch (parameters.prefix, parameters.intermediate, final) {
    // DECRPM: 1 is set, 2 is reset, 3 is permanently set. 0 is unknown, 4 is permanently reset.
    case (UInt8(ascii: "?"), UInt8(ascii: "$"), UInt8(ascii: "y")):
      guard let mode = parameters[0], let value = parameters[1] else { return nil }
      self = .mode(mode, isKnown: (1...3).contains(value))
    case (UInt8(ascii: "?"), nil, UInt8(ascii: "u")): self = .keyboard(flags: parameters[0] ?? 0)
    case (UInt8(ascii: "?"), nil, UInt8(ascii: "c")):
      // 4 among the extensions, which follow the class of the terminal.
      self = .attributes(hasSixel: (1..<max(1, parameters.count)).contains { parameters[$0] == 4 })
    default: return nil
    }
  }

  /// Decodes an APC reply of the kitty graphics protocol: `Gi=31;OK`, or `Gi=31;` and an error.
  init?(application: [UInt8]) {
    let text = String(decoding: application, as: UTF8.self)
    guard text.hasPrefix("Gi=31;") else { return nil }
    self = .graphics(isKnown: text == "Gi=31;OK")
  }

  /// Decodes an OSC reply: `11;rgb:1e1e/1e1e/2e2e` (xterm, "Operating System Commands"). Other
  /// colours, those of OSC 4 and 10, are ignored.
  init?(command: [UInt8]) {
    let text = String(decoding: command, as: UTF8.self)
    guard text.hasPrefix("11;") else { return nil }
    let value = text.dropFirst(3)
    var parts: [Substring] = []
    if value.hasPrefix("rgb:") || value.hasPrefix("rgba:") {
      parts = value.drop { $0 != ":" }.dropFirst().split(
        separator: "/", omittingEmptySubsequences: false)
    } else if value.hasPrefix("#"), (value.utf8.count - 1) % 3 == 0 {
      let digits = value.dropFirst()
      let count = digits.count / 3
      parts = (0..<3).map { digits.dropFirst($0 * count).prefix(count) }
    }
    guard parts.count == 3 || (parts.count == 4 && value.hasPrefix("rgba:")) else { return nil }
    var colors: [Double] = []
    for part in parts {
      guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2D }),
        let number = Int(part, radix: 16)
      else { return nil }
      colors.append(Double(number) / Double((1 << (4 * part.utf8.count)) - 1))
    }
    self = .background(red: colors[0], green: colors[1], blue: colors[2])
  }
}
