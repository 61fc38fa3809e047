import Pictures
import Testing

@Suite struct `PNG, ISO/IEC 15948` {
  /// Two by two pixels of a format, and what they are.
  struct Format: Sendable, CustomTestStringConvertible {
    var type: UInt8
    var depth: Int
    var rows: [UInt8]
    var pixels: [UInt8]
    var palette: [UInt8]?
    var transparency: [UInt8]?
    var testDescription: String { "type \(type), \(depth) bits" }
  }

  static let formats: [Format] = [
    Format(
      type: 0, depth: 1, rows: [0, 0b1000_0000, 0, 0b0100_0000],
      pixels: [255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 255]),
    Format(
      type: 0, depth: 2, rows: [0, 0b0001_0000, 0, 0b1011_0000],
      pixels: [0, 0, 0, 255, 85, 85, 85, 255, 170, 170, 170, 255, 255, 255, 255, 255]),
    Format(
      type: 0, depth: 4, rows: [0, 0x0F, 0, 0x81],
      pixels: [0, 0, 0, 255, 255, 255, 255, 255, 136, 136, 136, 255, 17, 17, 17, 255]),
    Format(
      type: 0, depth: 8, rows: [0, 1, 2, 0, 3, 4],
      pixels: [1, 1, 1, 255, 2, 2, 2, 0, 3, 3, 3, 255, 4, 4, 4, 255], transparency: [0, 2]),
    Format(
      type: 0, depth: 16, rows: [0, 1, 9, 2, 9, 0, 3, 9, 4, 9],
      pixels: [1, 1, 1, 255, 2, 2, 2, 255, 3, 3, 3, 255, 4, 4, 4, 255]),
    Format(
      type: 2, depth: 8, rows: [0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12],
      pixels: [1, 2, 3, 255, 4, 5, 6, 0, 7, 8, 9, 255, 10, 11, 12, 255],
      transparency: [0, 4, 0, 5, 0, 6]),
    Format(
      type: 3, depth: 1, rows: [0, 0b0100_0000, 0, 0b1000_0000],
      pixels: [1, 2, 3, 255, 4, 5, 6, 255, 4, 5, 6, 255, 1, 2, 3, 255], palette: [1, 2, 3, 4, 5, 6]
    ),
    Format(
      type: 3, depth: 8, rows: [0, 0, 1, 0, 1, 0],
      pixels: [1, 2, 3, 7, 4, 5, 6, 255, 4, 5, 6, 255, 1, 2, 3, 7], palette: [1, 2, 3, 4, 5, 6],
      transparency: [7]),
    Format(
      type: 4, depth: 8, rows: [0, 1, 2, 3, 4, 0, 5, 6, 7, 8],
      pixels: [1, 1, 1, 2, 3, 3, 3, 4, 5, 5, 5, 6, 7, 7, 7, 8]),
    Format(
      type: 6, depth: 16,
      rows: [
        0, 1, 99, 2, 99, 3, 99, 4, 99, 5, 99, 6, 99, 7, 99, 8, 99, 0, 9, 99, 10, 99, 11, 99, 12, 99,
        13, 99, 14, 99, 15, 99, 16, 99,
      ],
      pixels: Array(1...16)),
  ]

  @Test(arguments: formats) func `every format is decoded`(format: Format) throws {
    var file = PNGFile(width: 2, height: 2, depth: format.depth, type: format.type)
    file.rows = format.rows
    file.palette = format.palette
    file.transparency = format.transparency
    #expect(try PNG.decode(file.bytes) == Picture(width: 2, height: 2, bytes: format.pixels))
  }

  /// Every filter, in every row but the last.
  private func filtered(_ pixels: [UInt8], width: Int, height: Int) -> [UInt8] {
    let count = 4 * width
    func at(_ row: Int, _ index: Int) -> Int {
      row < 0 || index < 0 ? 0 : Int(pixels[row * count + index])
    }
    var rows: [UInt8] = []
    for row in 0..<height {
      let filter = row % 5
      rows.append(UInt8(filter))
      for index in 0..<count {
        let (left, above, corner) = (at(row, index - 4), at(row - 1, index), at(row - 1, index - 4))
        let estimate = left + above - corner
        let nearest: Int =
          [left, above, corner].min { (a: Int, b: Int) in
            abs(estimate - a) < abs(estimate - b)
          } ?? 0
        let guesses: [Int] = [0, left, above, (left + above) / 2, nearest]
        let guess = guesses[filter]
        rows.append(UInt8((at(row, index) - guess) & 255))
      }
    }
    return rows
  }

  private func noise(_ count: Int) -> [UInt8] {
    var state: UInt32 = 7
    return (0..<count).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
  }

  @Test func `every filter is undone`() throws {
    var file = PNGFile(width: 9, height: 11)
    let pixels = noise(4 * 9 * 11)
    file.rows = filtered(pixels, width: 9, height: 11)
    file.parts = 5
    file.others = [("tEXt", Array("Comment".utf8) + [0]), ("gAMA", [0, 0, 0, 1])]
    #expect(try PNG.decode(file.bytes) == Picture(width: 9, height: 11, bytes: pixels))
  }

  @Test(arguments: [(1, 1), (3, 2), (4, 5), (8, 8), (13, 9)])
  func `an interlaced picture is the same picture`(width: Int, height: Int) throws {
    let pixels = noise(4 * width * height)
    var file = PNGFile(width: width, height: height)
    file.isInterlaced = true
    let passes: [(Int, Int, Int, Int)] = [
      (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
      (0, 1, 1, 2),
    ]
    for (x, y, dx, dy) in passes where x < width {
      for row in stride(from: y, to: height, by: dy) {
        file.rows.append(0)
        for column in stride(from: x, to: width, by: dx) {
          let place = 4 * (row * width + column)
          file.rows += pixels[place..<place + 4]
        }
      }
    }
    #expect(try PNG.decode(file.bytes) == Picture(width: width, height: height, bytes: pixels))
  }

  // MARK: Hostile files

  private var good: PNGFile {
    var file = PNGFile(width: 2, height: 2)
    file.rows = [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 9, 10, 11, 12, 13, 14, 15, 16]
    return file
  }

  @Test func `a file that ends anywhere before its end is refused`() {
    let bytes = good.bytes
    for count in 0..<bytes.count {
      #expect(throws: PNG.Invalid.self) { try PNG.decode(Array(bytes.prefix(count))) }
    }
  }

  @Test func `a byte that was changed is noticed anywhere`() {
    let bytes = good.bytes
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 0x55
      #expect(throws: PNG.Invalid.self) { try PNG.decode(changed) }
    }
  }

  @Test func `a picture that is too large is refused by its header`() {
    var bomb = PNGFile(width: 14_000, height: 14_000)
    bomb.rows = [UInt8](repeating: 0, count: 1 << 20)
    #expect(throws: PNG.Invalid.tooLarge(width: 14_000, height: 14_000)) {
      try PNG.decode(bomb.bytes)
    }
    let most = PNGFile(width: 1025, height: 1)
    #expect(throws: PNG.Invalid.tooLarge(width: 1025, height: 1)) { try PNG.decode(most.bytes) }
  }

  @Test(arguments: [17, 19, 1 << 24])
  func `data of another length than the header says is refused`(count: Int) {
    var file = good
    file.rows = [UInt8](repeating: 0, count: count)
    #expect(throws: PNG.Invalid.damaged) { try PNG.decode(file.bytes) }
  }

  @Test func `what breaks a rule is refused`() {
    func refused(_ change: (inout PNGFile) -> Void) -> PNG.Invalid? {
      var file = good
      change(&file)
      return #expect(throws: PNG.Invalid.self) { try PNG.decode(file.bytes) }
    }
    #expect(refused { $0.rows[0] = 5 } == .damaged)
    #expect(refused { $0.width = 0 } == .damaged)
    #expect(refused { $0.depth = 4 } == .damaged)
    #expect(refused { $0.type = 5 } == .damaged)
    #expect(refused { $0.transparency = [0] } == .damaged)
    #expect(refused { $0.others = [("ABCD", [])] } == .unknown)
    #expect(refused { $0.others = [("IHDR", $0.header)] } == .damaged)
    // A pixel without a color in the palette, and no palette.
    func indexed(_ palette: [UInt8]?) -> PNG.Invalid? {
      refused {
        ($0.type, $0.palette, $0.rows) = (3, palette, [0, 0, 1, 0, 0, 0])
      }
    }
    #expect(indexed([1, 2, 3]) == .damaged)
    #expect(indexed([1, 2, 3, 4]) == .damaged)
    #expect(indexed(nil) == .damaged)
  }

  static let others: [[UInt8]] = [
    [], Array("GIF89a".utf8), [0xFF, 0xD8, 0xFF, 0xE0], [UInt8](repeating: 0, count: 99),
  ]

  @Test(arguments: others) func `another type is refused`(bytes: [UInt8]) {
    #expect(throws: PNG.Invalid.notPNG) { try PNG.decode(bytes) }
  }

  /// Checksums and compression are right, so that what is wrong reaches the innermost parts.
  @Test func `no file of random fields traps, and none is decoded to another size`() {
    var state: UInt32 = 1
    func dice(_ count: Int) -> Int {
      state = state &* 1_664_525 &+ 1_013_904_223
      return Int(state >> 8) % count
    }
    var decoded = 0
    for _ in 0..<20_000 {
      var file = PNGFile(width: 1 + dice(20), height: 1 + dice(20))
      file.type = UInt8([0, 2, 3, 4, 6, dice(256)][dice(6)])
      file.depth = [1, 2, 4, 8, 16, dice(256)][dice(6)]
      file.isInterlaced = dice(2) == 0
      if dice(2) == 0 { file.palette = (0..<3 * dice(20)).map { UInt8($0) } }
      if dice(4) == 0 { file.transparency = (0..<dice(8)).map { UInt8($0) } }
      // Often as many bytes as belong to it.
      let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][Int(file.type)] ?? 1
      let row = 1 + (file.width * channels * file.depth + 7) / 8
      let count = dice(3) == 0 ? dice(2000) : row * file.height
      let isWild = dice(8) == 0
      file.rows = (0..<count).map { UInt8($0 % row == 0 && !isWild ? dice(5) : dice(256)) }
      guard let picture = try? PNG.decode(file.bytes) else { continue }
      decoded += 1
      #expect(picture.width == file.width && picture.height == file.height)
      #expect(picture.square(7).bytes.count == 4 * 49)
    }
    #expect(decoded > 1000)
  }

  // MARK: Scaling

  @Test func `a square is cut from the middle, and each pixel is an average`() throws {
    // Columns of one colour each.
    let row: [UInt8] = [10, 0, 0, 255, 20, 0, 0, 255, 30, 0, 0, 255, 40, 0, 0, 255]
    let picture = try #require(Picture(width: 4, height: 2, bytes: row + row))
    #expect(picture.square(1).bytes == [25, 0, 0, 255])
    let two: [UInt8] = [20, 0, 0, 255, 30, 0, 0, 255]
    #expect(picture.square(2).bytes == two + two)
    #expect(picture.square(4).bytes.count == 64)
  }

  @Test func `all of it is scaled to any size`() throws {
    let row: [UInt8] = [10, 0, 0, 255, 20, 0, 0, 255, 30, 0, 0, 255, 40, 0, 0, 255]
    let picture = try #require(Picture(width: 4, height: 1, bytes: row))
    let (dark, light): ([UInt8], [UInt8]) = ([15, 0, 0, 255], [35, 0, 0, 255])
    #expect(picture.scaled(to: 2, 3).bytes == dark + light + dark + light + dark + light)
    #expect(picture.scaled(to: 2, 3).height == 3)
  }

  @Test func `what is transparent has no colour in an average`() throws {
    let row: [UInt8] = [200, 0, 0, 255, 99, 99, 99, 0]
    let picture = try #require(Picture(width: 2, height: 2, bytes: row + row))
    #expect(picture.square(1).bytes == [200, 0, 0, 128])
  }
}
