internal import CPostgres

/// The rows that a statement returned. Used by one thread at a time.
@safe package final class PostgresRows {
  private let result: OpaquePointer

  init(_ result: OpaquePointer) { unsafe self.result = result }

  deinit { unsafe cpostgres_clear(result) }

  package var count: Int { Int(unsafe cpostgres_rows(result)) }
  package var isEmpty: Bool { count == 0 }

  package func isNull(_ row: Int, _ column: Int) -> Bool {
    unsafe cpostgres_is_null(result, Int32(row), Int32(column)) != 0
  }

  /// Returns a `bigint`, `integer` or `smallint`; 0 for NULL.
  package func int(_ row: Int, _ column: Int) -> Int64 {
    let bytes = unsafe bytes(row, column)
    guard let first = unsafe bytes.first else { return 0 }
    return unsafe bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) {
      $0 << 8 | Int64($1)
    }
  }

  package func bool(_ row: Int, _ column: Int) -> Bool { int(row, column) != 0 }

  package func text(_ row: Int, _ column: Int) -> String {
    unsafe String(decoding: bytes(row, column), as: UTF8.self)
  }

  package func byteString(_ row: Int, _ column: Int) -> [UInt8] { unsafe Array(bytes(row, column)) }

  /// The bytes are those of the result, which outlives their use in this class.
  private func bytes(_ row: Int, _ column: Int) -> UnsafeBufferPointer<UInt8> {
    let count = Int(unsafe cpostgres_length(result, Int32(row), Int32(column)))
    let start = unsafe cpostgres_value(result, Int32(row), Int32(column))
    return unsafe UnsafeBufferPointer(
      start: UnsafeRawPointer(start)?.assumingMemoryBound(to: UInt8.self), count: count)
  }
}
