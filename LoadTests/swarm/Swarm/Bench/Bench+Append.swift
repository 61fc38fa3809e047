/// Rows about the store alone.
extension Bench {
  func measureAppend() throws -> [BenchRow] { [] }
}
