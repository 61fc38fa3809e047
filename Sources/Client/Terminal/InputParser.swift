/// A parser for the bytes that a terminal sends: keys, pastes, mouse and focus events, replies.
///
/// A value that consumes bytes in chunks of any size and returns events (ECMA-48 §5, xterm's
/// control sequences, the kitty keyboard protocol). Unknown sequences are skipped: no part of an
/// escape sequence is ever treated as text.
///
/// Only time tells whether an ESC is the key or the start of a sequence: if `waitMilliseconds` is
/// not nil, call `timeout()` after that time, counted from the last bytes that were progress
/// (`hasProgressed`). Every state that waits ends in this way, so that no lost end of a sequence or
/// paste, and no key that is pressed meanwhile, keeps the keyboard from working.
///
/// Lines that arrive together were pasted, also where the terminal does not bracket pastes:
/// see `PlainPaste`.
///
/// Text becomes one key per grapheme cluster of what is typed at once. ASCII and letters are not
/// held back for a combining mark that might follow in a later read: such a mark is then a key of
/// its own, and combines in the text into which it is inserted. Emoji wait.
public struct InputParser: Sendable {
  /// The wait after an ESC: terminals send the rest of a sequence at once.
  public static let escapeWaitMilliseconds = 30
  /// The wait for the end of a sequence; over a slow network it may arrive late.
  public static let sequenceWaitMilliseconds = 1000
  /// The wait for the end of a paste, whose parts may arrive late over a slow network. What came
  /// until then is the paste.
  public static let pasteWaitMilliseconds = 1000
  /// Fewer bytes at a time are taken for keys, which do not prolong the wait for the end of a
  /// sequence or paste.
  static let progressBytes = 16
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
    /// ECMA-48 §5.6: a control string, which is kept in `sequence`; `introducer` follows the ESC.
    case string(introducer: UInt8, hasEscape: Bool)
    /// The next bytes belong to the previous sequence (a click in X10's form).
    case skip(Int)
    case paste

    /// Whether its end may be far, so that the keys that are pressed meanwhile belong to it.
    var isLong: Bool {
      switch self {
      case .string, .paste: true
      case .ground, .escape, .control, .consoleFunction, .shift3, .skip: false
      }
    }
  }

  var state = State.ground
  /// Whether Alt applies: the sequence began with two ESC.
  var hasAlt = false
  var sequence: [UInt8] = []
  var isTooLong = false
  var text = TypedText()
  var paste: PastedText
  /// Keys that came while the end of a paste was awaited: pressed, if it does not come.
  private var pressed: [InputEvent] = []
  private var plain = PlainPaste()
  var events: [InputEvent] = []
  /// Whether the wait begins anew with the last bytes.
  public private(set) var hasProgressed = true

  /// - Parameter pasteLimitBytes: A longer paste is truncated.
  public init(pasteLimitBytes: Int = 1 << 20) {
    paste = PastedText(limitBytes: pasteLimitBytes)
  }

  /// Whether the last bytes are the start of something longer.
  public var isWaiting: Bool { waitMilliseconds != nil }

  /// How long to wait for more bytes before `timeout()`; nil if there is nothing to wait for.
  public var waitMilliseconds: Int? {
    switch state {
    case .ground: text.isEmpty && !plain.isWaiting ? nil : Self.escapeWaitMilliseconds
    case .escape: Self.escapeWaitMilliseconds
    // These may also be Alt with a character.
    case .control where sequence.isEmpty, .shift3 where sequence.isEmpty,
      .string where sequence.isEmpty:
      Self.escapeWaitMilliseconds
    case .control, .shift3, .consoleFunction, .string, .skip: Self.sequenceWaitMilliseconds
    case .paste: Self.pasteWaitMilliseconds
    }
  }

  /// Returns the events of these bytes, together with earlier ones.
  public mutating func parse(_ bytes: some Collection<UInt8>) -> [InputEvent] {
    let before = state
    if before == .paste { recordPressed(bytes) }
    for byte in bytes { parseByte(byte) }
    if state == .ground { text.flush(isEnd: false, into: &events) }
    hasProgressed =
      !before.isLong || !state.isLong || bytes.count >= Self.progressBytes
    return takeEvents(isEnd: false)
  }

  private mutating func takeEvents(isEnd: Bool) -> [InputEvent] {
    defer { events.removeAll(keepingCapacity: true) }
    return plain.join(events, isEnd: isEnd)
  }

  /// Records a key that is not text. It is part of the paste as well, whose end may be cut anywhere.
  private mutating func recordPressed(_ bytes: some Collection<UInt8>) {
    guard bytes.count < Self.progressBytes else { return }
    var other = InputParser(pasteLimitBytes: 0)
    let events = other.parse(bytes)
    guard events.count == 1, case .key(let key) = events[0] else { return }
    if case .character = key.code, key.modifiers.isEmpty { return }
    // Line breaks and tabs.
    if [Key(.enter), Key(.tab), Key(.character("j"), .control)].contains(key) { return }
    pressed.append(events[0])
  }

  /// Interprets the pending bytes, because nothing more has arrived.
  public mutating func timeout() -> [InputEvent] {
    let alt: Key.Modifiers = .alt
    hasProgressed = true
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
    case .string(let introducer, _):
      if sequence.isEmpty {
        emit(Key(.character(Character(Unicode.Scalar(introducer))), alt))
      }
      state = .ground
    case .consoleFunction, .skip: state = .ground
    case .paste:
      state = .ground
      events.append(.paste(paste.end()))
      events += pressed
      pressed = []
    }
    return takeEvents(isEnd: true)
  }

  mutating func emit(_ key: Key) { events.append(.key(key)) }

  private mutating func parseByte(_ byte: UInt8) {
    switch state {
    case .ground: takeGround(byte)
    case .escape(let isDouble): takeEscape(byte, isDouble: isDouble)
    case .control: takeControl(byte)
    case .consoleFunction:
      state = .ground
      if (0x41...0x45).contains(byte) { emit(Key(.function(Int(byte) - 0x40), altOrNone)) }
    case .shift3: takeShift3(byte)
    case .string(let introducer, let hasEscape):
      takeString(byte, introducer, hasEscape: hasEscape)
    case .skip(let count): state = count > 1 ? .skip(count - 1) : .ground
    case .paste:
      guard let pasted = paste.addByte(byte) else { return }
      state = .ground
      pressed = []
      events.append(.paste(pasted))
    }
  }

  var altOrNone: Key.Modifiers { hasAlt ? .alt : [] }

  private mutating func takeGround(_ byte: UInt8) {
    if byte >= 0x20, byte != 0x7F {
      text.addByte(byte, into: &events)
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
    // OSC, APC, DCS, SOS, PM.
    case UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "P"), UInt8(ascii: "X"),
      UInt8(ascii: "^"):
      begin(.string(introducer: byte, hasEscape: false))
    default:
      state = .ground
      if isDouble { emit(Key(.escape)) }
      if byte < 0x20 || byte == 0x7F {
        var key = Self.key(ofControl: byte)
        key.modifiers.insert(.alt)
        emit(key)
      } else {
        text.takesAlt = true
        text.addByte(byte, into: &events)
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
    // The sequence was cut off: the byte is not part of it.
    default:
      state = .ground
      parseByte(byte)
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
      parseByte(byte)
    }
  }

  private mutating func takeString(_ byte: UInt8, _ introducer: UInt8, hasEscape: Bool) {
    if hasEscape {
      state = .ground
      if byte == UInt8(ascii: "\\") {
        endString(introducer)
      } else {
        // Cut off by another sequence.
        takeEscape(byte, isDouble: false)
      }
      return
    }
    switch byte {
    case 0x1B: state = .string(introducer: introducer, hasEscape: true)
    case 0x07:
      state = .ground
      endString(introducer)
    // CAN, SUB.
    case 0x18, 0x1A: state = .ground
    // No reply has a control character: the string was cut off, and this is a key.
    case 0..<0x20:
      state = .ground
      parseByte(byte)
    default: keep(byte)
    }
  }

  private mutating func endString(_ introducer: UInt8) {
    if isTooLong { return }
    let reply: TerminalReply? =
      switch introducer {
      case UInt8(ascii: "]"): TerminalReply(command: sequence)
      case UInt8(ascii: "_"): TerminalReply(application: sequence)
      default: nil
      }
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
