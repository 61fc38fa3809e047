import CZlib
import Pictures

/// Input: a byte that chooses, then either a file as it is, or one without its checksums and
/// compression: 13 bytes of a header, a byte with the length of a palette, the palette, and the rows.
enum PNGTarget {
  /// What a decoded picture has at most, and what is compressed for the second form.
  private static let rowsLimitBytes = 4096

  static func check(_ input: inout FuzzInput) throws(FuzzFinding) {
    let isPlain = input.choice() % 2 == 0
    let file = isPlain ? Array(input.rest) : file(of: &input)
    guard let picture = try? PNG.decode(file) else { return }
    try expect(
      1...PNG.sideLimit ~= picture.width && 1...PNG.sideLimit ~= picture.height,
      "a picture of \(picture.width) by \(picture.height)")
    try expect(
      picture.bytes.count == 4 * picture.width * picture.height,
      "\(picture.bytes.count) bytes of \(picture.width) by \(picture.height)")
    let square = picture.square(16)
    try expect(square.bytes.count == 1024, "a square of \(square.bytes.count) bytes")
    // The last chunk is needed.
    try expect(
      (try? PNG.decode(Array(file.dropLast()))) == nil || isPlain,
      "a file without its last byte is decoded")
  }

  private static func file(of input: inout FuzzInput) -> [UInt8] {
    let header = (0..<13).map { _ in input.choice() }
    let palette = (0..<3 * Int(input.choice() % 8)).map { _ in input.choice() }
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    file += chunk("IHDR", header)
    if !palette.isEmpty { file += chunk("PLTE", palette) }
    file += chunk("IDAT", compressed(Array(input.rest.prefix(rowsLimitBytes))))
    return file + chunk("IEND", [])
  }

  private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let covered = Array(type.utf8) + data
    let sum = unsafe covered.withUnsafeBufferPointer {
      unsafe crc32(0, $0.baseAddress, UInt32($0.count))
    }
    return number(data.count) + covered + number(Int(sum))
  }

  private static func number(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(value >> $0 & 255) }
  }

  private static func compressed(_ bytes: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: Int(compressBound(UInt(bytes.count))))
    var count = UInt(output.count)
    let code = unsafe compress(&output, &count, bytes, UInt(bytes.count))
    precondition(code == Z_OK, "zlib refuses")
    return Array(output.prefix(Int(count)))
  }
}
