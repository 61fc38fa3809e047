extension InputParser {
  /// Handles a complete control sequence.
  mutating func dispatchControl(final: UInt8) {
    var parameters = Parameters(sequence)
    switch (parameters.prefix, parameters.intermediate, final) {
    case (UInt8(ascii: "<"), nil, UInt8(ascii: "M")), (UInt8(ascii: "<"), nil, UInt8(ascii: "m")):
      if let mouse = Self.mouse(parameters, isRelease: final == UInt8(ascii: "m")) {
        events.append(.mouse(mouse))
      }
    case (nil, nil, UInt8(ascii: "I")): events.append(.focus(true))
    case (nil, nil, UInt8(ascii: "O")): events.append(.focus(false))
    case (nil, nil, UInt8(ascii: "u")): if let key = kittyKey(parameters) { emit(key) }
    case (nil, nil, UInt8(ascii: "~")): dispatchTilde(&parameters)
    case (nil, nil, _):
      guard let code = Self.code(ofFinal: final), let modifiers = modifiers(parameters, at: 1)
      else { return }
      emit(Key(code, final == UInt8(ascii: "Z") ? modifiers.union(.shift) : modifiers))
    default:
      if let reply = TerminalReply(parameters, final: final) { events.append(.reply(reply)) }
    }
  }

  /// Handles `SS3`, which has the modifiers, if any, before its letter.
  mutating func dispatchShift3(final: UInt8) {
    let parameters = Parameters(sequence)
    guard let modifiers = modifiers(parameters, at: 0) else { return }
    if let code = Self.code(ofFinal: final) { return emit(Key(code, modifiers)) }
    switch final {
    case UInt8(ascii: "I"): emit(Key(.tab, modifiers))
    case UInt8(ascii: "M"): emit(Key(.enter, modifiers))
    // The keypad's application mode: `*` to `9`, and `=`.
    case UInt8(ascii: "j")...UInt8(ascii: "y"):
      emit(Key(.character(Character(Unicode.Scalar(final - 0x40))), modifiers))
    case UInt8(ascii: "X"): emit(Key(.character("="), modifiers))
    default: break
    }
  }

  /// Returns the key of a letter (xterm, "PC-Style Function Keys").
  private static func code(ofFinal final: UInt8) -> Key.Code? {
    switch final {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    case UInt8(ascii: "F"): .end
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "P")...UInt8(ascii: "S"): .function(Int(final) - 0x4F)
    case UInt8(ascii: "Z"): .tab
    default: nil
    }
  }

  /// Handles keys by number (xterm, VT220).
  private mutating func dispatchTilde(_ parameters: inout Parameters) {
    let number = parameters[0] ?? 0
    switch number {
    case 200: state = .paste
    // xterm's modifyOtherKeys: CSI 27 ; modifiers ; character ~
    case 27 where parameters.count == 3:
      guard let modifiers = modifiers(parameters, at: 1) else { return }
      if let key = Self.key(scalar: parameters[2] ?? 0, modifiers) { emit(key) }
    default:
      guard let code = Self.code(ofNumber: number), let modifiers = modifiers(parameters, at: 1)
      else { return }
      emit(Key(code, modifiers))
    }
  }

  private static func code(ofNumber number: Int) -> Key.Code? {
    switch number {
    case 1, 7: .home
    case 2: .insert
    case 3: .delete
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    case 11...15: .function(number - 10)
    case 17...21: .function(number - 11)
    case 23...26: .function(number - 12)
    case 28, 29: .function(number - 13)
    case 31...34: .function(number - 14)
    default: nil
    }
  }

  /// Decodes the modifiers of a parameter, which is their bits plus one (xterm; kitty): nil with
  /// Super or Hyper, which belong to the desktop, and for the release of a key.
  private func modifiers(_ parameters: Parameters, at index: Int) -> Key.Modifiers? {
    if parameters[index, 1] == 3 { return nil }
    let bits = max(1, parameters[index] ?? 1) - 1
    if bits & (8 | 16) != 0 { return nil }
    var modifiers = Key.Modifiers(rawValue: UInt8(bits & 7))
    // Meta.
    if bits & 32 != 0 { modifiers.insert(.alt) }
    return modifiers.union(altOrNone)
  }

  /// CSI code : shifted : base ; modifiers : event ; text u
  private func kittyKey(_ parameters: Parameters) -> Key? {
    guard let number = parameters[0], let modifiers = modifiers(parameters, at: 1) else {
      return nil
    }
    if modifiers.isDisjoint(with: [.alt, .control]) {
      // The text that the key types, if the terminal reports it.
      if let typed = parameters[2], typed >= 0x20, number < 57344 {
        return Self.key(scalar: typed, modifiers)
      }
      if modifiers.contains(.shift), let shifted = parameters[0, 1] {
        return Self.key(scalar: shifted, modifiers)
      }
    } else if modifiers.contains(.control) {
      // If the layout has no Latin letters, shortcuts use the letter printed on the key.
      if number >= 0x80, number < 57344, let base = parameters[0, 2] {
        return Self.key(scalar: base, modifiers)
      }
    } else if modifiers.contains(.shift), let shifted = parameters[0, 1] {
      return Self.key(scalar: shifted, modifiers)
    }
    return Self.key(scalar: number, modifiers)
  }

  /// Returns a key by its character or by its number in kitty's protocol.
  static func key(scalar number: Int, _ modifiers: Key.Modifiers) -> Key? {
    switch number {
    case 9: return Key(.tab, modifiers)
    case 13, 57414: return Key(.enter, modifiers)
    case 27: return Key(.escape, modifiers)
    case 8, 127: return Key(.backspace, modifiers)
    case 57344...63743: return functional(number).map { Key($0, modifiers) }
    case 0..<0x20, 0x80..<0xA0: return nil
    default: break
    }
    guard number >= 0, number <= 0x10FFFF, let scalar = Unicode.Scalar(UInt32(number)) else {
      return nil
    }
    var character = Character(scalar)
    var modifiers = modifiers
    if modifiers.contains(.control) {
      let lower = scalar.properties.lowercaseMapping
      if lower.count == 1 { character = Character(lower) }
    } else if modifiers.contains(.shift) {
      let upper = scalar.properties.uppercaseMapping
      if upper.count == 1 { character = Character(upper) }
      modifiers.remove(.shift)
    }
    return Key(.character(character), modifiers)
  }

  /// Returns a key of kitty's table of functional keys; modifier and media keys are not supported.
  private static func functional(_ number: Int) -> Key.Code? {
    switch number {
    case 57376...57398: return .function(number - 57376 + 13)
    case 57399...57408: return .character(Character(Unicode.Scalar(UInt8(number - 57399 + 0x30))))
    case 57409: return .character(".")
    case 57410: return .character("/")
    case 57411: return .character("*")
    case 57412: return .character("-")
    case 57413: return .character("+")
    case 57415: return .character("=")
    case 57416: return .character(",")
    default: break
    }
    let pad: [Key.Code] = [
      .left, .right, .up, .down, .pageUp, .pageDown, .home, .end, .insert, .delete,
    ]
    return number >= 57417 && number < 57417 + pad.count ? pad[number - 57417] : nil
  }

  /// Decodes the SGR format (xterm, mode 1006): button ; column ; row, from 1.
  private static func mouse(_ parameters: Parameters, isRelease: Bool) -> Mouse? {
    guard parameters.count == 3, let bits = parameters[0], let column = parameters[1],
      let row = parameters[2], column > 0, row > 0
    else { return nil }
    let position = Position(column: column - 1, row: row - 1)
    // Without Shift, Alt and Ctrl.
    switch bits & ~0b11100 {
    case 64: return Mouse(.wheelUp, .none, at: position)
    case 65: return Mouse(.wheelDown, .none, at: position)
    case let button where button & ~0b100011 == 0:
      let buttons: [Mouse.Button] = [.left, .middle, .right, .none]
      let pressed = buttons[button & 3]
      // Movements without a button are ignored.
      if pressed == .none { return nil }
      let isMotion = button & 32 != 0
      return Mouse(isMotion ? .drag : isRelease ? .release : .press, pressed, at: position)
    default: return nil
    }
  }
}
