/// What a terminal sends, as events: keys, pastes, the mouse, the focus, and answers.
///
/// A value that eats bytes, however they are cut, and yields events (ECMA-48 §5, xterm's control
/// sequences, the kitty keyboard protocol). What it does not know it skips: nothing of an escape
/// sequence is ever taken for text.
///
/// Whether an ESC is the key or the beginning of a sequence only time tells: while
/// `waitMilliseconds` is not nil and nothing comes for so long, call `timeout()`.
///
/// Text becomes one key for each grapheme cluster of what is typed in one go. ASCII and letters are
/// not held back for a mark that might follow in a later read: that mark is then a key by itself, and
/// combines in the text that it is put into. Emoji wait.
public struct InputParser: Sendable {
  /// An ESC by which nothing stands: terminals send the rest of a sequence at once.
  public static let escapeWaitMilliseconds = 30
  /// A sequence that has begun and does not end; over a slow network its rest may come late.
  public static let sequenceWaitMilliseconds = 1000
  /// Of a longer sequence nothing is kept, but its end is awaited.
  static let sequenceLimitBytes = 4096

  enum State: Equatable {
    case ground
    /// After one ESC, or two: an Alt more.
    case escape(isDouble: Bool)
    /// ECMA-48 §5.4: its parameters and intermediates are in `sequence`.
    case control
    /// After `CSI [`: a function key of Linux's console.
    case consoleFunction
    /// A key in the form of SS3 (xterm).
    case shift3
    /// ECMA-48 §5.6: OSC, which is in `sequence`, or another one, of which nothing is kept.
    case string(isCommand: Bool, hasEscape: Bool)
    /// So many bytes belong to what was before (a click in X10's form).
    case skip(Int)
    case paste
  }

  var state = State.ground
  /// What Alt holds for: the sequence began with two ESC.
  var hasAlt = false
  var sequence: [UInt8] = []
  var isTooLong = false
  var text = TypedText()
  var paste: PastedText
  var events: [InputEvent] = []

  /// - Parameter pasteLimitBytes: what a paste has beyond that is left out.
  public init(pasteLimitBytes: Int = 1 << 20) {
    paste = PastedText(limitBytes: pasteLimitBytes)
  }

  /// Whether what came is the beginning of something.
  public var isWaiting: Bool { waitMilliseconds != nil }

  /// How long to wait for more, from the last bytes on, before `timeout()`; nil when there is nothing to
  /// wait for. The end of a paste is awaited for as long as it takes: its rest would be typed.
  public var waitMilliseconds: Int? {
    switch state {
    case .ground: text.isEmpty ? nil : Self.escapeWaitMilliseconds
    case .escape: Self.escapeWaitMilliseconds
    // These also are Alt with a character.
    case .control where sequence.isEmpty, .shift3 where sequence.isEmpty:
      Self.escapeWaitMilliseconds
    case .control, .shift3, .consoleFunction, .string, .skip: Self.sequenceWaitMilliseconds
    case .paste: nil
    }
  }

  /// What these bytes bring, with those that came before.
  public mutating func parse(_ bytes: some Sequence<UInt8>) -> [InputEvent] {
    for byte in bytes { take(byte) }
    if state == .ground { text.flush(isEnd: false, into: &events) }
    defer { events.removeAll(keepingCapacity: true) }
    return events
  }

  /// What it was, since nothing more came.
  public mutating func timeout() -> [InputEvent] {
    let alt: Key.Modifiers = .alt
    switch state {
    case .ground: text.flush(isEnd: true, into: &events)
    case .escape(let isDouble):
      for _ in 0..<(isDouble ? 2 : 1) { emit(Key(.escape)) }
      state = .ground
    case .control:
      if sequence.isEmpty { emit(Key(.character("["), alt)) }
      state = .ground
    case .shift3:
      if sequence.isEmpty { emit(Key(.character("O"), alt)) }
      state = .ground
    case .consoleFunction, .string, .skip: state = .ground
    case .paste: break
    }
    defer { events.removeAll(keepingCapacity: true) }
    return events
  }

  mutating func emit(_ key: Key) { events.append(.key(key)) }

  private mutating func take(_ byte: UInt8) {
    switch state {
    case .ground: takeGround(byte)
    case .escape(let isDouble): takeEscape(byte, isDouble: isDouble)
    case .control: takeControl(byte)
    case .consoleFunction:
      state = .ground
      if (0x41...0x45).contains(byte) { emit(Key(.function(Int(byte) - 0x40), altOrNone)) }
    case .shift3: takeShift3(byte)
    case .string(let isCommand, let hasEscape):
      takeString(byte, isCommand: isCommand, hasEscape: hasEscape)
    case .skip(let count): state = count > 1 ? .skip(count - 1) : .ground
    case .paste:
      guard let pasted = paste.take(byte) else { return }
      state = .ground
      events.append(.paste(pasted))
    }
  }

  var altOrNone: Key.Modifiers { hasAlt ? .alt : [] }

  private mutating func takeGround(_ byte: UInt8) {
    if byte >= 0x20, byte != 0x7F {
      text.take(byte, into: &events)
      return
    }
    text.flush(isEnd: true, into: &events)
    if byte == 0x1B {
      state = .escape(isDouble: false)
    } else {
      emit(Self.key(ofControl: byte))
    }
  }

  private mutating func takeEscape(_ byte: UInt8, isDouble: Bool) {
    hasAlt = isDouble
    switch byte {
    case 0x1B:
      if isDouble { emit(Key(.escape)) }
      state = .escape(isDouble: true)
    case UInt8(ascii: "["): begin(.control)
    case UInt8(ascii: "O"): begin(.shift3)
    case UInt8(ascii: "]"): begin(.string(isCommand: true, hasEscape: false))
    // DCS, SOS, PM, APC.
    case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
      begin(.string(isCommand: false, hasEscape: false))
    default:
      state = .ground
      if isDouble { emit(Key(.escape)) }
      if byte < 0x20 || byte == 0x7F {
        var key = Self.key(ofControl: byte)
        key.modifiers.insert(.alt)
        emit(key)
      } else {
        text.takesAlt = true
        text.take(byte, into: &events)
      }
    }
  }

  private mutating func begin(_ next: State) {
    state = next
    sequence.removeAll(keepingCapacity: true)
    isTooLong = false
  }

  private mutating func keep(_ byte: UInt8) {
    if sequence.count < Self.sequenceLimitBytes { sequence.append(byte) } else { isTooLong = true }
  }

  private mutating func takeControl(_ byte: UInt8) {
    switch byte {
    // Parameters and intermediates.
    case 0x20...0x3F: keep(byte)
    case UInt8(ascii: "[") where sequence.isEmpty: state = .consoleFunction
    case UInt8(ascii: "M") where sequence.isEmpty: state = .skip(3)
    case 0x40...0x7E:
      state = .ground
      if !isTooLong { dispatchControl(final: byte) }
    // Not part of one: it was cut off.
    default:
      state = .ground
      take(byte)
    }
  }

  private mutating func takeShift3(_ byte: UInt8) {
    switch byte {
    case 0x30...0x39: keep(byte)
    case 0x40...0x7E:
      state = .ground
      if !isTooLong { dispatchShift3(final: byte) }
    default:
      state = .ground
      take(byte)
    }
  }

  private mutating func takeString(_ byte: UInt8, isCommand: Bool, hasEscape: Bool) {
    if hasEscape {
      state = .ground
      if byte == UInt8(ascii: "\\") {
        endString(isCommand: isCommand)
      } else {
        // Cut off by another one.
        takeEscape(byte, isDouble: false)
      }
      return
    }
    switch byte {
    case 0x1B: state = .string(isCommand: isCommand, hasEscape: true)
    case 0x07:
      state = .ground
      endString(isCommand: isCommand)
    // CAN, SUB.
    case 0x18, 0x1A: state = .ground
    default: if isCommand { keep(byte) }
    }
  }

  private mutating func endString(isCommand: Bool) {
    guard isCommand, !isTooLong, let reply = TerminalReply(command: sequence) else { return }
    events.append(.reply(reply))
  }

  /// What a control character is on a keyboard.
  static func key(ofControl byte: UInt8) -> Key {
    switch byte {
    case 0x00: Key(.character(" "), .control)
    case 0x08, 0x7F: Key(.backspace)
    case 0x09: Key(.tab)
    case 0x0D: Key(.enter)
    case 0x1B: Key(.escape)
    case 0x01...0x1A: Key(.character(Character(Unicode.Scalar(byte + 0x60))), .control)
    default: Key(.character(Character(Unicode.Scalar(byte + 0x40))), .control)
    }
  }
}
