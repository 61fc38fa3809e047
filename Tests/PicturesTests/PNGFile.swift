import CZlib

/// Writes PNG files for tests, right or wrong ones.
struct PNGFile {
  var width: Int
  var height: Int
  var depth = 8
  var type: UInt8 = 6
  var isInterlaced = false
  /// The rows as they are compressed, each with the byte of its filter.
  var rows: [UInt8] = []
  var palette: [UInt8]?
  var transparency: [UInt8]?
  /// Chunks before the data, with their types.
  var others: [(String, [UInt8])] = []
  /// Into how many chunks the data is divided.
  var parts = 1

  static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let covered = Array(type.utf8) + data
    let sum = unsafe covered.withUnsafeBufferPointer {
      unsafe crc32(0, $0.baseAddress, UInt32($0.count))
    }
    return number(data.count) + covered + number(Int(sum))
  }

  static func number(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(value >> $0 & 255) }
  }

  static func compress(_ bytes: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: Int(compressBound(UInt(bytes.count))))
    var count = UInt(output.count)
    let code = unsafe CZlib.compress(&output, &count, bytes, UInt(bytes.count))
    precondition(code == Z_OK, "zlib refuses")
    return Array(output.prefix(Int(count)))
  }

  var header: [UInt8] {
    Self.number(width) + Self.number(height)
      + [UInt8(depth), type, 0, 0, isInterlaced ? 1 : 0]
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    bytes += Self.chunk("IHDR", header)
    if let palette { bytes += Self.chunk("PLTE", palette) }
    if let transparency { bytes += Self.chunk("tRNS", transparency) }
    for (type, data) in others { bytes += Self.chunk(type, data) }
    let data = Self.compress(rows)
    let step = (data.count + parts - 1) / parts
    for start in stride(from: 0, to: data.count, by: max(1, step)) {
      bytes += Self.chunk("IDAT", Array(data[start..<min(data.count, start + step)]))
    }
    return bytes + Self.chunk("IEND", [])
  }
}
