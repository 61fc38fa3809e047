internal import CZlib

/// Decodes PNG (ISO/IEC 15948) of every colour type and depth, also interlaced.
///
/// A file that is not whole, or breaks a rule, is refused; nothing is guessed. What it may cost is
/// known from its header, before anything is decompressed.
public enum PNG {
  /// Why a file is refused.
  public enum Invalid: Error, Hashable, Sendable {
    case notPNG
    case truncated
    /// A side has more pixels than `sideLimit`.
    case tooLarge(width: Int, height: Int)
    case damaged
    /// It needs something that a decoder of this standard does not know.
    case unknown
  }

  /// The most pixels of a side: 8 MiB for the widest format.
  public static let sideLimit = 1024

  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  public static func decode(_ bytes: [UInt8]) throws(Invalid) -> Picture {
    guard bytes.starts(with: signature) else { throw .notPNG }
    var chunks = Chunks(bytes, from: signature.count)
    let first = try chunks.next()
    guard first.type == "IHDR" else { throw .damaged }
    var image = try Image(header: first.data)
    var data: [UInt8] = []
    while true {
      let chunk = try chunks.next()
      switch chunk.type {
      case "IDAT": data += chunk.data
      case "PLTE": try image.takePalette(chunk.data)
      case "tRNS": try image.takeTransparency(chunk.data)
      case "IEND": return try image.decode(data)
      case "IHDR": throw .damaged
      default:
        // Bit 5 of the first letter: may be ignored (§5.4).
        guard chunk.isAncillary else { throw .unknown }
      }
    }
  }
}

/// The chunks of a file (§5.3), each with a checksum.
private struct Chunks {
  struct Chunk {
    var type: String
    var isAncillary: Bool
    var data: ArraySlice<UInt8>
  }

  private let bytes: [UInt8]
  private var offset: Int

  init(_ bytes: [UInt8], from offset: Int) {
    self.bytes = bytes
    self.offset = offset
  }

  mutating func next() throws(PNG.Invalid) -> Chunk {
    guard bytes.count - offset >= 12 else { throw .truncated }
    let count = number(at: offset)
    guard count <= bytes.count - offset - 12 else { throw .truncated }
    let covered = bytes[(offset + 4)..<(offset + 8 + count)]
    guard Self.checksum(covered) == number(at: offset + 8 + count) else { throw .damaged }
    offset += 12 + count
    return Chunk(
      type: String(decoding: covered.prefix(4), as: UTF8.self),
      isAncillary: covered[covered.startIndex] & 0x20 != 0, data: covered.dropFirst(4))
  }

  private func number(at offset: Int) -> Int {
    (0..<4).reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>) -> Int {
    unsafe bytes.withUnsafeBufferPointer { buffer in
      Int(unsafe crc32(0, buffer.baseAddress, UInt32(buffer.count)))
    }
  }
}

/// What the header says, and the decoding of the data according to it.
private struct Image {
  private let width: Int
  private let height: Int
  private let depth: Int
  private let type: UInt8
  private let isInterlaced: Bool
  /// Red, green and blue of each entry.
  private var palette: [UInt8] = []
  /// The alphas of the palette.
  private var alphas: [UInt8] = []
  /// The one color that is transparent, a sample for each channel.
  private var key: [Int]?

  init(header: ArraySlice<UInt8>) throws(PNG.Invalid) {
    let bytes = Array(header)
    guard bytes.count == 13 else { throw .damaged }
    width = (0..<4).reduce(0) { $0 << 8 | Int(bytes[$1]) }
    height = (4..<8).reduce(0) { $0 << 8 | Int(bytes[$1]) }
    guard width > 0, height > 0 else { throw .damaged }
    guard width <= PNG.sideLimit, height <= PNG.sideLimit else {
      throw .tooLarge(width: width, height: height)
    }
    depth = Int(bytes[8])
    type = bytes[9]
    let depths: [Int] =
      switch type {
      case 0: [1, 2, 4, 8, 16]
      case 3: [1, 2, 4, 8]
      case 2, 4, 6: [8, 16]
      default: []
      }
    guard depths.contains(depth) else { throw .damaged }
    guard bytes[10] == 0, bytes[11] == 0, bytes[12] <= 1 else { throw .unknown }
    isInterlaced = bytes[12] == 1
  }

  private var channels: Int {
    switch type {
    case 2: 3
    case 4: 2
    case 6: 4
    default: 1
    }
  }

  mutating func takePalette(_ data: ArraySlice<UInt8>) throws(PNG.Invalid) {
    guard palette.isEmpty, data.count % 3 == 0, 3...768 ~= data.count else { throw .damaged }
    palette = Array(data)
  }

  mutating func takeTransparency(_ data: ArraySlice<UInt8>) throws(PNG.Invalid) {
    let bytes = Array(data)
    switch type {
    case 3:
      guard bytes.count <= palette.count / 3 else { throw .damaged }
      alphas = bytes
    case 0, 2:
      guard bytes.count == 2 * channels else { throw .damaged }
      key = (0..<channels).map { Int(bytes[2 * $0]) << 8 | Int(bytes[2 * $0 + 1]) }
    default: throw .damaged
    }
  }

  /// A part of the pixels: all of them, or one of the seven of Adam7 (§8.2).
  private struct Pass {
    var (x, y, dx, dy): (Int, Int, Int, Int)
    var (columns, rows): (Int, Int)

    init(_ x: Int, _ y: Int, _ dx: Int, _ dy: Int, of image: Image) {
      (self.x, self.y, self.dx, self.dy) = (x, y, dx, dy)
      columns = (image.width - x + dx - 1) / dx
      rows = (image.height - y + dy - 1) / dy
    }
  }

  private var passes: [Pass] {
    guard isInterlaced else { return [Pass(0, 0, 1, 1, of: self)] }
    return [
      (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
      (0, 1, 1, 2),
    ].map { Pass($0.0, $0.1, $0.2, $0.3, of: self) }.filter { $0.columns > 0 && $0.rows > 0 }
  }

  private func rowBytes(_ pass: Pass) -> Int { (pass.columns * channels * depth + 7) / 8 }

  func decode(_ data: [UInt8]) throws(PNG.Invalid) -> Picture {
    if type == 3, palette.isEmpty { throw .damaged }
    let passes = passes
    var rows = try Self.inflate(
      data, toBytes: passes.reduce(0) { $0 + $1.rows * (1 + rowBytes($1)) })
    var pixels = [UInt8](repeating: 0, count: 4 * width * height)
    var start = 0
    for pass in passes {
      let count = rowBytes(pass)
      for row in 0..<pass.rows {
        try unfilter(&rows, at: start, count: count, isFirst: row == 0)
        for column in 0..<pass.columns {
          let place = 4 * ((pass.y + row * pass.dy) * width + pass.x + column * pass.dx)
          try put(rows, row: start + 1, column: column, into: &pixels, at: place)
        }
        start += 1 + count
      }
    }
    guard let picture = Picture(width: width, height: height, bytes: pixels) else {
      throw .damaged
    }
    return picture
  }

  /// Decompresses to exactly this many bytes; never writes more.
  private static func inflate(
    _ data: [UInt8], toBytes count: Int
  ) throws(PNG.Invalid) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: count)
    var length = UInt(count)
    let code = unsafe uncompress(&output, &length, data, UInt(data.count))
    guard code == Z_OK, length == UInt(count) else { throw .damaged }
    return output
  }

  /// Undoes the filter of a row (§9.2), whose first byte names it.
  private func unfilter(
    _ bytes: inout [UInt8], at start: Int, count: Int, isFirst: Bool
  ) throws(PNG.Invalid) {
    let step = max(1, channels * depth / 8)
    let filter = bytes[start]
    guard filter <= 4 else { throw .damaged }
    if filter == 0 { return }
    for index in 0..<count {
      let place = start + 1 + index
      let above = isFirst ? 0 : Int(bytes[place - count - 1])
      let left = index < step ? 0 : Int(bytes[place - step])
      let corner = isFirst || index < step ? 0 : Int(bytes[place - count - 1 - step])
      let guess =
        switch filter {
        case 1: left
        case 2: above
        case 3: (left + above) / 2
        default: Self.paeth(left, above, corner)
        }
      bytes[place] = bytes[place] &+ UInt8(guess)
    }
  }

  private static func paeth(_ left: Int, _ above: Int, _ corner: Int) -> Int {
    let estimate = left + above - corner
    let (a, b, c) = (abs(estimate - left), abs(estimate - above), abs(estimate - corner))
    if a <= b, a <= c { return left }
    return b <= c ? above : corner
  }

  private func put(
    _ bytes: [UInt8], row start: Int, column: Int, into pixels: inout [UInt8], at place: Int
  ) throws(PNG.Invalid) {
    func sample(_ channel: Int) -> Int {
      let index = column * channels + channel
      if depth == 16 {
        return Int(bytes[start + 2 * index]) << 8 | Int(bytes[start + 2 * index + 1])
      }
      if depth == 8 { return Int(bytes[start + index]) }
      let shift = 8 - depth - index * depth % 8
      return Int(bytes[start + index * depth / 8]) >> shift & (1 << depth - 1)
    }
    func byte(_ channel: Int) -> UInt8 {
      depth == 16 ? UInt8(sample(channel) >> 8) : UInt8(sample(channel) * 255 / (1 << depth - 1))
    }
    let isKey = key.map { key in key.indices.allSatisfy { key[$0] == sample($0) } } ?? false
    switch type {
    case 3:
      let index = sample(0)
      guard 3 * index + 2 < palette.count else { throw .damaged }
      for channel in 0..<3 { pixels[place + channel] = palette[3 * index + channel] }
      pixels[place + 3] = index < alphas.count ? alphas[index] : 255
    case 0, 4:
      let gray = byte(0)
      for channel in 0..<3 { pixels[place + channel] = gray }
      pixels[place + 3] = type == 4 ? byte(1) : isKey ? 0 : 255
    default:
      for channel in 0..<3 { pixels[place + channel] = byte(channel) }
      pixels[place + 3] = type == 6 ? byte(3) : isKey ? 0 : 255
    }
  }
}
