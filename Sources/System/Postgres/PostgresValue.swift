/// A parameter of a statement, in PostgreSQL's binary format. The statement gives its type, by a cast
/// (`$1::bigint`) or by its use.
package struct PostgresValue: Sendable {
  /// `nil` = NULL.
  let bytes: [UInt8]?

  /// `bigint`.
  package static func int(_ value: Int64) -> Self { Self(bytes: bigEndian(value)) }

  /// `boolean`.
  package static func bool(_ value: Bool) -> Self { Self(bytes: [value ? 1 : 0]) }

  /// `text`. Must not contain U+0000, which PostgreSQL cannot store.
  package static func text(_ value: String) -> Self { Self(bytes: Array(value.utf8)) }

  /// `bytea`.
  package static func bytes(_ value: [UInt8]) -> Self { Self(bytes: value) }

  package static let null = Self(bytes: nil)

  /// `bigint[]`.
  package static func ints(_ values: some Collection<Int64>) -> Self {
    array(of: 20, values.count, bytes: values.count * 12) { array in
      for value in values {
        appendBigEndian(8 as Int32, to: &array)
        appendBigEndian(value, to: &array)
      }
    }
  }

  /// `bigint[]` with NULL elements.
  package static func optionalInts(_ values: some Collection<Int64?>) -> Self {
    array(of: 20, values.count, bytes: values.count * 12) { array in
      for value in values {
        appendBigEndian(value == nil ? -1 : 8 as Int32, to: &array)
        if let value { appendBigEndian(value, to: &array) }
      }
    }
  }

  /// `boolean[]`.
  package static func bools(_ values: some Collection<Bool>) -> Self {
    array(of: 16, values.count, bytes: values.count * 5) { array in
      for value in values {
        appendBigEndian(1 as Int32, to: &array)
        array.append(value ? 1 : 0)
      }
    }
  }

  /// `text[]`.
  package static func texts(_ values: some Collection<String>) -> Self {
    array(of: 25, values.count, bytes: values.reduce(0) { $0 + 4 + $1.utf8.count }) { array in
      for value in values {
        appendBigEndian(Int32(truncatingIfNeeded: value.utf8.count), to: &array)
        array.append(contentsOf: value.utf8)
      }
    }
  }

  /// `bytea[]`.
  package static func byteStrings(_ values: some Collection<[UInt8]>) -> Self {
    array(of: 17, values.count, bytes: values.reduce(0) { $0 + 4 + $1.count }) { array in
      for value in values {
        appendBigEndian(Int32(truncatingIfNeeded: value.count), to: &array)
        array.append(contentsOf: value)
      }
    }
  }

  /// Builds an array of one dimension.
  /// - Parameter type: the object id of the elements' type, which never changes (`pg_type.dat`).
  private static func array(
    of type: Int32, _ count: Int, bytes: Int, _ append: (inout [UInt8]) -> Void
  ) -> Self {
    var array: [UInt8] = []
    array.reserveCapacity(20 + bytes)
    appendBigEndian((count == 0 ? 0 : 1) as Int32, to: &array)  // dimensions
    appendBigEndian(1 as Int32, to: &array)  // may have NULL elements
    appendBigEndian(type, to: &array)
    if count > 0 {
      appendBigEndian(Int32(truncatingIfNeeded: count), to: &array)
      appendBigEndian(1 as Int32, to: &array)  // the first index
      append(&array)
    }
    return Self(bytes: array)
  }

  private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    var bytes: [UInt8] = []
    appendBigEndian(value, to: &bytes)
    return bytes
  }

  private static func appendBigEndian(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
}

/// A statement that a connection prepares when it is first used, so that the server parses and plans
/// it once.
package struct PostgresStatement: Sendable {
  /// Unique among the statements of a connection; empty = not prepared.
  let name: String
  let sql: String

  /// - Parameter name: unique among the statements of a connection.
  package init(_ name: String, _ sql: String) {
    self.name = name
    self.sql = sql
  }

  /// A statement that is used rarely, or has nothing to plan.
  package init(once sql: String) { self.init("", sql) }

  package func callAsFunction(_ values: PostgresValue...) -> PostgresCall { call(values) }

  package func call(_ values: [PostgresValue]) -> PostgresCall {
    PostgresCall(statement: self, values: values)
  }
}

/// A statement with its parameters.
package struct PostgresCall: Sendable {
  let statement: PostgresStatement
  let values: [PostgresValue]
}
