/// A span of a client's own trace, as `traceparent` in a `send` or in the head of a request names it (W3C Trace
/// Context, §3.2). One that is not valid counts as absent, which that document asks for.
public struct Traceparent: Equatable, Sendable {
  /// An array, as most messages have none: they are copied with a word for it.
  private let bytes: [UInt8]

  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The trace that the span is a part of.
  public var traceID: TraceID? { TraceID(text.dropFirst(3).prefix(32)) }

  /// - Parameter text: version `00`, or the beginning of a later version, which has the same form.
  public init?(_ text: String) {
    let bytes = Array(text.utf8.prefix(56))
    let dash = UInt8(ascii: "-")
    guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == dash }),
      bytes[..<55].enumerated().allSatisfy({
        $1 == dash ? [2, 35, 52].contains($0) : $1.isLowerHex
      })
    else { return nil }
    let version = bytes[..<2]
    guard !version.elementsEqual("ff".utf8),
      bytes.count == 55 || bytes[55] == dash && !version.elementsEqual("00".utf8),
      !bytes[3..<35].allSatisfy({ $0 == UInt8(ascii: "0") }),
      !bytes[36..<52].allSatisfy({ $0 == UInt8(ascii: "0") })
    else { return nil }
    self.bytes = Array(bytes[..<55])
  }
}

/// The name of a trace: 16 bytes, not all of them 0, as 32 hexadecimal digits.
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64

  public init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  /// Reads lower-case digits.
  public init?(_ digits: some StringProtocol) {
    guard digits.utf8.count == 32, digits.utf8.allSatisfy(\.isLowerHex),
      let high = UInt64(digits.prefix(16), radix: 16),
      let low = UInt64(digits.suffix(16), radix: 16), high | low != 0
    else { return nil }
    self.init(high: high, low: low)
  }

  public var description: String { Self.digits(high) + Self.digits(low) }

  private static func digits(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension UInt8 {
  fileprivate var isLowerHex: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
    default: false
    }
  }
}
