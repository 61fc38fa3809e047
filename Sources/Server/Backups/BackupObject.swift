internal import ObjectStorage
internal import TLS

/// One object of a backup: pages of the files of a data folder, and how these files are as a whole.
///
/// | part | |
/// | --- | --- |
/// | lines of text, and an empty one | the format, the object's name, the digest of the object before it, the store, each file, and the number of pages |
/// | 21 bytes for each page | the file's place in that list, the page's number from 1, the beginning of the page's SHA-256 |
/// | the pages | in the same order |
/// | 32 bytes | the SHA-256 of all bytes before these |
///
/// Numbers are big-endian. The digests of the objects before them tie objects to one order: an object that was
/// replaced, or that another backup has written in between, is noticed.
struct BackupObject {
  struct File: Equatable {
    /// In the data folder.
    var name: String
    var pageBytes: Int
    /// The size of the file.
    var bytes: Int

    var pageCount: Int { (bytes + pageBytes - 1) / pageBytes }

    /// The last page of a file that is no database may be shorter.
    func bytes(ofPage number: Int) -> Int { min(pageBytes, bytes - (number - 1) * pageBytes) }
  }

  struct Page {
    /// The place in `files`.
    var file: Int
    var number: Int
    var hash: PageHash
  }

  var name: ObjectName
  /// The digest of the object before it; empty = it is the first.
  var previous: [UInt8]
  /// The first epoch of the store, which tells it from others.
  var store: String
  var files: [File]
  var pages: [Page]

  private static let format = "relay-backup 1"
  private static let pageEntryBytes = 1 + 4 + PageHash.bytes
  /// How many bytes are enough for all before the pages, of an object within its limits.
  static let headBytes = 65_536
  /// How many bytes of pages an object has, about.
  static let limitBytes = 8 << 20
  static let pageLimit = 2500
  static let fileLimit = 64

  /// - Parameter contents: of the pages, in their order.
  func encoded(_ contents: [UInt8]) -> [UInt8] {
    var text =
      "\(Self.format)\nname \(name.text)\nprevious \(previous.isEmpty ? "-" : SHA256Digest.hex(previous))\nstore \(store)\n"
    for file in files { text += "file \(file.pageBytes) \(file.bytes) \(file.name)\n" }
    text += "pages \(pages.count)\n\n"
    var bytes = Array(text.utf8)
    bytes.reserveCapacity(
      bytes.count + pages.count * Self.pageEntryBytes + contents.count + SHA256Digest.bytes)
    for page in pages {
      bytes.append(UInt8(page.file))
      for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: page.number >> shift)) }
      bytes += page.hash.content
    }
    bytes += contents
    bytes += SHA256Digest.of(bytes)
    return bytes
  }

  /// Reads what precedes the pages; `nil` if it is not well-formed.
  /// - Returns: the object, and where the pages begin.
  static func head(_ bytes: [UInt8]) -> (object: BackupObject, end: Int)? {
    let end = Array("\n\n".utf8)
    guard let blank = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else {
      return nil
    }
    let lines = String(decoding: bytes[..<blank], as: UTF8.self).split(separator: "\n")
    func value(_ place: Int, _ key: String) -> Substring? {
      guard place < lines.count, lines[place].hasPrefix("\(key) ") else { return nil }
      return lines[place].dropFirst(key.count + 1)
    }
    guard lines.count > 4, lines[0] == format, let name = value(1, "name"),
      let name = ObjectName(String(name)), let previous = value(2, "previous"),
      let previous = digest(ofHex: previous), let store = value(3, "store"),
      let count = value(lines.count - 1, "pages").flatMap({ Int($0) }), count <= pageLimit
    else { return nil }
    var object = BackupObject(
      name: name, previous: previous, store: String(store), files: [], pages: [])
    for place in 4..<lines.count - 1 {
      guard let file = value(place, "file").flatMap(file) else { return nil }
      object.files.append(file)
    }
    var start = blank + end.count
    guard start + count * pageEntryBytes <= bytes.count else { return nil }
    for _ in 0..<count {
      let number = bytes[start + 1..<start + 5].reduce(0) { (number: Int, byte) in
        number << 8 | Int(byte)
      }
      let hash = PageHash(content: Array(bytes[start + 5..<start + pageEntryBytes]))
      object.pages.append(Page(file: Int(bytes[start]), number: number, hash: hash))
      start += pageEntryBytes
    }
    let isSound = object.pages.allSatisfy { page in
      page.file < object.files.count && page.number > 0
        && object.files[page.file].bytes(ofPage: page.number) > 0
    }
    return isSound ? (object, start) : nil
  }

  private static func file(_ line: Substring) -> File? {
    let fields = line.split(separator: " ", maxSplits: 2)
    guard fields.count == 3, let pageBytes = Int(fields[0]), (1...65_536).contains(pageBytes),
      let bytes = Int(fields[1]), bytes >= 0, DataFiles.isName(fields[2])
    else { return nil }
    return File(name: String(fields[2]), pageBytes: pageBytes, bytes: bytes)
  }

  /// Reads an object, and compares its digest.
  /// - Returns: the object, its pages' contents, and its digest; `nil` if it is damaged.
  static func read(
    _ bytes: [UInt8]
  ) -> (object: BackupObject, contents: [ArraySlice<UInt8>], digest: [UInt8])? {
    let end = bytes.count - SHA256Digest.bytes
    guard end > 0, SHA256Digest.of(bytes[..<end]).elementsEqual(bytes[end...]),
      let (object, start) = head(bytes)
    else { return nil }
    var contents: [ArraySlice<UInt8>] = []
    var place = start
    for page in object.pages {
      let next = place + object.files[page.file].bytes(ofPage: page.number)
      guard next <= end else { return nil }
      contents.append(bytes[place..<next])
      place = next
    }
    return place == end ? (object, contents, Array(bytes[end...])) : nil
  }

  /// Reads an object of a storage.
  /// - Throws: also if it is damaged, or has the name of another one.
  static func get(
    _ name: ObjectName, from storage: any ObjectStorage
  ) throws(BackupError) -> (object: BackupObject, contents: [ArraySlice<UInt8>], digest: [UInt8]) {
    let bytes: [UInt8]
    do throws(StorageError) { bytes = try storage.get(name.text, nil) } catch {
      throw BackupError(error)
    }
    guard let read = read(bytes), read.object.name == name else {
      throw BackupError(
        .damaged,
        "The object \(storage.description)/\(name.text) is damaged. Restore an earlier point (--at), or "
          + "another backup.")
    }
    return read
  }

  private static func digest(ofHex text: Substring) -> [UInt8]? {
    if text == "-" { return [] }
    let digits = Array(text)
    guard digits.count == 2 * SHA256Digest.bytes else { return nil }
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
    return bytes.count == SHA256Digest.bytes ? bytes : nil
  }
}

/// The first half of the SHA-256 of a page.
struct PageHash: Equatable {
  static let bytes = 16

  private let words: SIMD2<UInt64>

  /// Of no page.
  static let none = PageHash(content: [UInt8](repeating: 0, count: bytes))

  init(of page: ArraySlice<UInt8>) {
    self.init(content: Array(SHA256Digest.of(page).prefix(Self.bytes)))
  }

  init(content: [UInt8]) {
    func word(_ place: Int) -> UInt64 {
      content[place..<place + 8].reduce(0) { (word: UInt64, byte) in word << 8 | UInt64(byte) }
    }
    words = SIMD2(word(0), word(8))
  }

  var content: [UInt8] {
    (0..<Self.bytes).map { place in
      UInt8(truncatingIfNeeded: words[place / 8] >> UInt64(56 - place % 8 * 8))
    }
  }
}
