internal import CSQLite

/// A table whose rows its program keeps in other tables (<https://sqlite.org/vtab.html>).
///
/// It exists under its name in every statement of the connections that `Database.add` was called for,
/// and is not part of the file. Its first column is an integer, by which rows are found and ordered.
/// Used by the thread of its connection.
package protocol VirtualTable: AnyObject {
  /// The columns, a bit each, of which a cursor learns whether the statement reads one. An `UPDATE` may be
  /// taken to read none: SQLite says of it that it uses all.
  var notedColumns: UInt64 { get }

  func makeCursor() -> any VirtualCursor

  /// Removes the row with the key `old`, and adds `new`.
  /// - Parameters:
  ///   - old: `nil` = none.
  ///   - new: the columns; `nil` = none.
  func replace(_ old: Int64?, with new: [SQLiteValue]?) throws(SQLiteError)
}

/// A position in a `VirtualTable`.
package protocol VirtualCursor: AnyObject {
  /// The key of the current row; `nil` after the last.
  var key: Int64? { get }

  /// Moves to the first of the rows whose key is in a range, in the order of the keys.
  /// - Parameter usesNoted: whether the statement uses one of the table's `notedColumns`.
  func start(
    _ keys: ClosedRange<Int64>, isDescending: Bool, usesNoted: Bool
  ) throws(SQLiteError)

  func moveToNext() throws(SQLiteError)

  /// Returns a column of the current row.
  func write(_ column: Int32, to result: borrowing SQLiteResult)

  /// Ends the run: the cursor may be dropped, or started again.
  func end()
}

/// A value of a column.
package enum SQLiteValue: Equatable {
  case null
  case integer(Int64)
  case bytes([UInt8])

  package var integer: Int64 { if case .integer(let value) = self { value } else { 0 } }
  package var bytes: [UInt8] { if case .bytes(let value) = self { value } else { [] } }
}

/// Takes the value of a column (`sqlite3_result_*`).
@safe package struct SQLiteResult: ~Copyable {
  fileprivate let context: OpaquePointer?

  package func set(_ value: Int64) { unsafe sqlite3_result_int64(context, value) }

  package func set(text: UnsafeRawBufferPointer) {
    unsafe csqlite_result_text(
      context, text.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(text.count))
  }

  package func set(blob: UnsafeRawBufferPointer) {
    unsafe csqlite_result_blob(context, blob.baseAddress, UInt64(blob.count))
  }
}

extension Database {
  /// Adds a virtual table to the connection.
  /// - Parameters:
  ///   - declaration: the columns, as in `CREATE TABLE`.
  ///   - make: returns the table; called by the first statement that names it.
  package func add(
    _ name: String, declaration: String, _ make: @escaping (SQLiteConnection) -> any VirtualTable
  ) throws(SQLiteError) {
    let maker = unsafe Unmanaged.passRetained(TableMaker(declaration, make)).toOpaque()
    let code = unsafe sqlite3_create_module_v2(handle, name, &virtualTableModule, maker) {
      if let maker = unsafe $0 { unsafe Unmanaged<TableMaker>.fromOpaque(maker).release() }
    }
    guard code == SQLITE_OK else { throw unsafe SQLiteError(code, connection: handle) }
  }
}

private final class TableMaker {
  let declaration: String
  let make: (SQLiteConnection) -> any VirtualTable

  init(_ declaration: String, _ make: @escaping (SQLiteConnection) -> any VirtualTable) {
    self.declaration = declaration
    self.make = make
  }
}

// SQLite's own part comes first in both.
@unsafe private struct TableBox {
  var base: sqlite3_vtab
  let table: any VirtualTable
}

@unsafe private struct CursorBox {
  var base: sqlite3_vtab_cursor
  let cursor: any VirtualCursor
}

/// What a plan uses, in `idxNum`.
private struct Plan: OptionSet, Hashable {
  var rawValue: Int32

  static let equal = Plan(rawValue: 1)
  static let lower = Plan(rawValue: 2)
  static let isLowerStrict = Plan(rawValue: 4)
  static let upper = Plan(rawValue: 8)
  static let isUpperStrict = Plan(rawValue: 16)
  static let descending = Plan(rawValue: 32)
  static let usesNoted = Plan(rawValue: 64)
}

private nonisolated(unsafe) var virtualTableModule: sqlite3_module = {
  var module = sqlite3_module()
  // The table exists without CREATE VIRTUAL TABLE (eponymous-only): there is no xCreate.
  module.iVersion = 1
  unsafe module.xConnect = { connection, maker, _, _, result, _ in
    guard let connection = unsafe connection, let maker = unsafe maker,
      let result = unsafe result
    else { return SQLITE_MISUSE }
    let made = unsafe Unmanaged<TableMaker>.fromOpaque(maker).takeUnretainedValue()
    let code = unsafe sqlite3_declare_vtab(connection, made.declaration)
    guard code == SQLITE_OK else { return code }
    let box = UnsafeMutablePointer<TableBox>.allocate(capacity: 1)
    let table = unsafe made.make(SQLiteConnection(handle: connection))
    unsafe box.initialize(
      to: TableBox(base: sqlite3_vtab(), table: table))
    unsafe result.pointee = UnsafeMutableRawPointer(box).assumingMemoryBound(to: sqlite3_vtab.self)
    return SQLITE_OK
  }
  unsafe module.xDisconnect = { table in
    guard let table = unsafe table else { return SQLITE_OK }
    let box = unsafe UnsafeMutableRawPointer(table).assumingMemoryBound(to: TableBox.self)
    unsafe box.deinitialize(count: 1)
    unsafe box.deallocate()
    return SQLITE_OK
  }
  unsafe module.xBestIndex = { table, info in
    guard let table = unsafe table, let info = unsafe info else { return SQLITE_MISUSE }
    unsafe plan(info, of: tableObject(table))
    return SQLITE_OK
  }
  unsafe module.xOpen = { table, result in
    guard let table = unsafe table, let result = unsafe result else { return SQLITE_MISUSE }
    let cursor = unsafe tableObject(table).makeCursor()
    let box = UnsafeMutablePointer<CursorBox>.allocate(capacity: 1)
    unsafe box.initialize(
      to: CursorBox(base: sqlite3_vtab_cursor(), cursor: cursor))
    unsafe result.pointee = UnsafeMutableRawPointer(box)
      .assumingMemoryBound(to: sqlite3_vtab_cursor.self)
    return SQLITE_OK
  }
  unsafe module.xClose = { cursor in
    guard let cursor = unsafe cursor else { return SQLITE_OK }
    unsafe cursorObject(cursor).end()
    let box = unsafe UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: CursorBox.self)
    unsafe box.deinitialize(count: 1)
    unsafe box.deallocate()
    return SQLITE_OK
  }
  unsafe module.xFilter = { cursor, number, _, count, arguments in
    guard let cursor = unsafe cursor else { return SQLITE_MISUSE }
    let plan = Plan(rawValue: number)
    let keys = unsafe keys(plan, UnsafeBufferPointer(start: arguments, count: Int(count)))
    return unsafe run(cursor) { (cursor) throws(SQLiteError) in
      try cursor.start(
        keys, isDescending: plan.contains(.descending), usesNoted: plan.contains(.usesNoted))
    }
  }
  unsafe module.xNext = { cursor in
    guard let cursor = unsafe cursor else { return SQLITE_MISUSE }
    return unsafe run(cursor) { (cursor) throws(SQLiteError) in try cursor.moveToNext() }
  }
  unsafe module.xEof = { cursor in
    guard let cursor = unsafe cursor else { return 1 }
    return unsafe cursorObject(cursor).key == nil ? 1 : 0
  }
  unsafe module.xColumn = { cursor, context, column in
    guard let cursor = unsafe cursor else { return SQLITE_MISUSE }
    unsafe cursorObject(cursor).write(column, to: SQLiteResult(context: context))
    return SQLITE_OK
  }
  unsafe module.xRowid = { cursor, result in
    guard let cursor = unsafe cursor, let result = unsafe result else { return SQLITE_MISUSE }
    unsafe result.pointee = cursorObject(cursor).key ?? 0
    return SQLITE_OK
  }
  // Arguments: the old key or null, the new key, the new columns; the first alone to delete.
  unsafe module.xUpdate = { table, count, arguments, key in
    guard let table = unsafe table else { return SQLITE_MISUSE }
    let values = unsafe UnsafeBufferPointer(start: arguments, count: Int(count)).map {
      unsafe value($0)
    }
    let new = values.count > 2 ? Array(values[2...]) : nil
    var old: Int64?
    if case .integer(let key) = values.first { old = key }
    if let new, let key = unsafe key { unsafe key.pointee = new.first?.integer ?? 0 }
    do throws(SQLiteError) {
      try unsafe tableObject(table).replace(old, with: new)
      return SQLITE_OK
    } catch {
      return unsafe fail(table, error)
    }
  }
  return module
}()

private func tableObject(_ table: UnsafeMutablePointer<sqlite3_vtab>) -> any VirtualTable {
  unsafe UnsafeMutableRawPointer(table).assumingMemoryBound(to: TableBox.self)
    .pointee.table
}

private func cursorObject(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>) -> any VirtualCursor
{
  unsafe UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: CursorBox.self)
    .pointee.cursor
}

private func run(
  _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>,
  _ body: (any VirtualCursor) throws(SQLiteError) -> Void
) -> Int32 {
  do throws(SQLiteError) {
    try body(unsafe cursorObject(cursor))
    return SQLITE_OK
  } catch {
    return unsafe fail(cursor.pointee.pVtab, error)
  }
}

/// Gives the message to SQLite, which frees it, and returns the code.
private func fail(_ table: UnsafeMutablePointer<sqlite3_vtab>?, _ error: SQLiteError) -> Int32 {
  guard let table = unsafe table else { return error.extendedCode }
  unsafe sqlite3_free(table.pointee.zErrMsg)
  unsafe table.pointee.zErrMsg = csqlite_copy(error.message)
  return error.extendedCode
}

/// Chooses how to find rows: by the first column, and in its order.
private func plan(
  _ info: UnsafeMutablePointer<sqlite3_index_info>, of table: any VirtualTable
) {
  var plan: Plan = []
  var usages: [Plan: Int] = [:]
  for index in 0..<Int(unsafe info.pointee.nConstraint) {
    let constraint = unsafe info.pointee.aConstraint[index]
    guard constraint.usable != 0, constraint.iColumn <= 0 else { continue }
    let (kind, isStrict): (Plan, Plan)
    switch Int32(constraint.op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: (kind, isStrict) = (.equal, [])
    case SQLITE_INDEX_CONSTRAINT_GT: (kind, isStrict) = (.lower, .isLowerStrict)
    case SQLITE_INDEX_CONSTRAINT_GE: (kind, isStrict) = (.lower, [])
    case SQLITE_INDEX_CONSTRAINT_LT: (kind, isStrict) = (.upper, .isUpperStrict)
    case SQLITE_INDEX_CONSTRAINT_LE: (kind, isStrict) = (.upper, [])
    default: continue
    }
    guard usages[kind] == nil else { continue }
    usages[kind] = index
    plan.formUnion([kind, isStrict])
  }
  // SQLite checks the constraints as well: a value need not be an integer.
  var argument: Int32 = 0
  for kind in [Plan.equal, .lower, .upper] {
    guard let index = usages[kind] else { continue }
    argument += 1
    unsafe info.pointee.aConstraintUsage[index].argvIndex = argument
  }
  let rows: Int64 =
    if plan.contains(.equal) { 1 } else if plan.isSuperset(of: [.lower, .upper]) {
      1000
    } else if plan.isDisjoint(with: [.lower, .upper]) { 10_000_000 } else { 1_000_000 }
  unsafe info.pointee.estimatedRows = rows
  unsafe info.pointee.estimatedCost = Double(rows) * 10
  if unsafe info.pointee.nOrderBy == 1, unsafe info.pointee.aOrderBy[0].iColumn <= 0 {
    unsafe info.pointee.orderByConsumed = 1
    if unsafe info.pointee.aOrderBy[0].desc != 0 { plan.insert(.descending) }
  }
  let used = unsafe info.pointee.colUsed
  if used != .max, used & table.notedColumns != 0 { plan.insert(.usesNoted) }
  // At most one row: a change of it needs no copy of the page beside the write-ahead log.
  if plan.contains(.equal) { unsafe info.pointee.idxFlags = SQLITE_INDEX_SCAN_UNIQUE }
  unsafe info.pointee.idxNum = plan.rawValue
}

/// Returns the keys that a plan's constraints allow; a range that holds no key if there are none.
private func keys(
  _ plan: Plan, _ arguments: UnsafeBufferPointer<OpaquePointer?>
) -> ClosedRange<Int64> {
  let none = Int64.min...Int64.min
  var (lower, upper) = (Int64.min, Int64.max)
  var next = 0
  for kind in [Plan.equal, .lower, .upper] where plan.contains(kind) {
    let value = unsafe value(arguments[next])
    next += 1
    guard value != .null else { return none }
    guard case .integer(let key) = value else { continue }
    switch kind {
    case .equal: (lower, upper) = (max(lower, key), min(upper, key))
    case .lower:
      guard !plan.contains(.isLowerStrict) || key < .max else { return none }
      lower = max(lower, plan.contains(.isLowerStrict) ? key + 1 : key)
    default:
      guard !plan.contains(.isUpperStrict) || key > .min else { return none }
      upper = min(upper, plan.contains(.isUpperStrict) ? key - 1 : key)
    }
  }
  return lower <= upper ? lower...upper : none
}

private func value(_ value: OpaquePointer?) -> SQLiteValue {
  switch unsafe sqlite3_value_type(value) {
  case SQLITE_INTEGER: .integer(unsafe sqlite3_value_int64(value))
  case SQLITE_NULL: .null
  default:
    .bytes(
      unsafe Array(
        UnsafeRawBufferPointer(
          start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))))
  }
}
