extension BinaryInteger {
  /// The number with what it counts, as in `1 entry` and `2 entries`.
  /// - Parameter plural: `nil` = the singular and an s.
  package func counted(_ singular: String, _ plural: String? = nil) -> String {
    "\(self) \(self == 1 ? singular : plural ?? "\(singular)s")"
  }
}
