/// The parameters of a control sequence (ECMA-48 §5.4.2): numbers separated by `;`, each of which
/// may have parts separated by `:`.
struct Parameters {
  /// `<`, `=`, `>` or `?`, which mark a private sequence.
  private(set) var prefix: UInt8?
  /// The byte before the final one; if there are several, the last.
  private(set) var intermediate: UInt8?
  private var numbers: [[Int?]] = [[nil]]

  /// Larger numbers are capped to this.
  private static let limit = 1 << 24

  init(_ bytes: [UInt8]) {
    for byte in bytes {
      switch byte {
      case 0x30...0x39:
        let part = numbers[numbers.count - 1].count - 1
        let number = (numbers[numbers.count - 1][part] ?? 0) * 10 + Int(byte - 0x30)
        numbers[numbers.count - 1][part] = min(number, Self.limit)
      case UInt8(ascii: ":"): numbers[numbers.count - 1].append(nil)
      case UInt8(ascii: ";"): numbers.append([nil])
      case 0x3C...0x3F: prefix = byte
      default: intermediate = byte
      }
    }
  }

  var count: Int { numbers.count }

  /// Returns a part of a parameter; nil if it is missing.
  subscript(index: Int, part: Int = 0) -> Int? {
    guard index < numbers.count, part < numbers[index].count else { return nil }
    return numbers[index][part]
  }
}
