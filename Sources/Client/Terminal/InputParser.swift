/// A parser for the bytes that a terminal sends: keys, pastes, mouse and focus events, replies.
///
/// A value that consumes bytes in chunks of any size and returns events (ECMA-48 §5, xterm's
/// control sequences, the kitty keyboard protocol). Unknown sequences are skipped: no part of an
/// escape sequence is ever treated as text.
///
/// Only time tells whether an ESC is the key or the start of a sequence: if `waitMilliseconds` is
/// not nil and nothing arrives for that long, call `timeout()`.
///
/// Text becomes one key per grapheme cluster of what is typed at once. ASCII and letters are not
/// held back for a combining mark that might follow in a later read: such a mark is then a key of
/// its own, and combines in the text into which it is inserted. Emoji wait.
public struct InputParser: Sendable {
  /// The wait after an ESC: terminals send the rest of a sequence at once.
  public static let escapeWaitMilliseconds = 30
  /// The wait for the end of a sequence; over a slow network it may arrive late.
  public static let sequenceWaitMilliseconds = 1000
  /// A longer sequence is discarded, up to its end.
  static let sequenceLimitBytes = 4096

  enum State: Equatable {
    case ground
    /// After one ESC, or after two, which add Alt.
    case escape(isDouble: Bool)
    /// ECMA-48 §5.4: the parameters and intermediates are kept in `sequence`.
    case control
    /// After `CSI [`: a function key of the Linux console.
    case consoleFunction
    /// A key in the form of SS3 (xterm).
    case shift3
    /// ECMA-48 §5.6: OSC or APC, which is kept in `sequence`, or another string, which is discarded.
    case string(isCommand: Bool, hasEscape: Bool)
    /// The next bytes belong to the previous sequence (a click in X10's form).
    case skip(Int)
    case paste
  }

  var state = State.ground
  /// Whether Alt applies: the sequence began with two ESC.
  var hasAlt = false
  var sequence: [UInt8] = []
  var isTooLong = false
  /// Whether the string is APC.
  var isApplication = false
  var text = TypedText()
  var paste: PastedText
  var events: [InputEvent] = []

  /// - Parameter pasteLimitBytes: A longer paste is truncated.
  public init(pasteLimitBytes: Int = 1 << 20) {
    paste = PastedText(limitBytes: pasteLimitBytes)
  }

  /// Whether the last bytes are the start of something longer.
  public var isWaiting: Bool { waitMilliseconds != nil }

  /// How long to wait for more bytes, counted from the last ones, before `timeout()`; nil if there
  /// is nothing to wait for. The end of a paste is awaited indefinitely, because the rest of it
  /// would otherwise be treated as typed.
  public var waitMilliseconds: Int? {
    switch state {
    case .ground: text.isEmpty ? nil : Self.escapeWaitMilliseconds
    case .escape: Self.escapeWaitMilliseconds
    // These may also be Alt with a character.
    case .control where sequence.isEmpty, .shift3 where sequence.isEmpty:
      Self.escapeWaitMilliseconds
    case .control, .shift3, .consoleFunction, .string, .skip: Self.sequenceWaitMilliseconds
    case .paste: nil
    }
  }

  /// Returns the events of these bytes, together with earlier ones.
  public mutating func parse(_ bytes: some Sequence<UInt8>) -> [InputEvent] {
    for byte in bytes { take(byte) }
    if state == .ground { text.flush(isEnd: false, into: &events) }
    defer { events.removeAll(keepingCapacity: true) }
    return events
  }

  /// Interprets the pending bytes, because nothing more has arrived.
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
    case UInt8(ascii: "_"):
      begin(.string(isCommand: true, hasEscape: false))
      isApplication = true
    // DCS, SOS, PM.
    case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"):
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
    isApplication = false
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
    // The sequence was cut off: the byte is not part of it.
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
        // Cut off by another sequence.
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
    guard isCommand, !isTooLong else { return }
    let reply =
      isApplication
      ? TerminalReply(application: sequence) : TerminalReply(command: sequence)
    if let reply { events.append(.reply(reply)) }
  }

  /// Returns the key for a control character.
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
