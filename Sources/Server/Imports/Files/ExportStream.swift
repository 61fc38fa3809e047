internal import CZlib

/// The content of one file of an export, from its beginning, in pieces of bounded size.
@safe final class ExportStream {
  /// With the archive that has it.
  let name: String
  private let file: OpenFile
  private var offset: Int
  private let end: Int
  private var inflater: UnsafeMutablePointer<z_stream>?
  private var input: [UInt8] = []
  private var inputStart = 0
  private var isOver = false
  /// What the archive says of the content.
  private var expected: (bytes: Int, checksum: UInt32)?
  private var bytes = 0
  private var checksum: UInt32 = 0

  private static let pieceBytes = 64 << 10

  init(_ file: OpenFile) {
    name = file.path
    self.file = file
    offset = 0
    end = file.size
  }

  init(
    _ entry: ZipArchive.Entry, named name: String, in archive: ZipArchive
  ) throws(UnreadableExport) {
    self.name = "\(archive.file.path), \(name)"
    file = archive.file
    offset = try archive.contentOffset(of: entry)
    end = offset + entry.packedBytes
    expected = (entry.bytes, entry.checksum)
    guard entry.isDeflated else { return }
    // zlib's state has a pointer to the stream, which therefore must not move.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    guard unsafe czlib_inflate_init_raw(stream, 15) == Z_OK else {
      unsafe stream.deallocate()
      throw UnreadableExport(self.name, "needs more memory than there is")
    }
    unsafe inflater = stream
  }

  deinit {
    guard let inflater = unsafe inflater else { return }
    unsafe inflateEnd(inflater)
    unsafe inflater.deallocate()
  }

  /// Returns the next piece; an empty one after the last.
  func next() throws(UnreadableExport) -> [UInt8] {
    if isOver { return [] }
    let piece: [UInt8]
    if let inflater = unsafe inflater {
      piece = try unsafe inflated(inflater)
    } else {
      piece = try file.read(at: offset, count: min(Self.pieceBytes, end - offset))
      offset += piece.count
      isOver = piece.isEmpty
    }
    if let expected {
      bytes += piece.count
      // Without bytes zlib returns the checksum of none.
      if !piece.isEmpty {
        checksum = UInt32(
          truncatingIfNeeded: unsafe piece.withUnsafeBufferPointer {
            unsafe crc32(UInt(checksum), $0.baseAddress, UInt32($0.count))
          })
      }
      guard bytes <= expected.bytes,
        !isOver || (bytes == expected.bytes && checksum == expected.checksum)
      else { throw damaged }
    }
    return piece
  }

  /// Returns the whole content.
  func all(limitBytes: Int) throws(UnreadableExport) -> [UInt8] {
    var all: [UInt8] = []
    while case let piece = try next(), !piece.isEmpty {
      all += piece
      guard all.count <= limitBytes else {
        throw UnreadableExport(name, "is larger than \(limitBytes) bytes")
      }
    }
    return all
  }

  private var damaged: UnreadableExport {
    UnreadableExport(name, "is damaged in its archive; download or copy that again")
  }

  private func inflated(_ stream: UnsafeMutablePointer<z_stream>) throws(UnreadableExport)
    -> [UInt8]
  {
    var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
    var filled = 0
    while filled == 0 {
      if inputStart == input.count {
        input = try file.read(at: offset, count: min(Self.pieceBytes, end - offset))
        offset += input.count
        inputStart = 0
      }
      let (code, left, unread) = unsafe input[inputStart...].withUnsafeBufferPointer { input in
        unsafe piece.withUnsafeMutableBufferPointer { output in
          unsafe stream.pointee.next_in = input.baseAddress
          unsafe stream.pointee.avail_in = UInt32(input.count)
          unsafe stream.pointee.next_out = output.baseAddress
          unsafe stream.pointee.avail_out = UInt32(output.count)
          let code = unsafe inflate(stream, Z_NO_FLUSH)
          return unsafe (code, stream.pointee.avail_out, stream.pointee.avail_in)
        }
      }
      filled = piece.count - Int(left)
      inputStart = input.count - Int(unread)
      if code == Z_STREAM_END {
        isOver = true
        break
      }
      guard code == Z_OK else { throw damaged }
    }
    piece.removeLast(piece.count - filled)
    return piece
  }
}
