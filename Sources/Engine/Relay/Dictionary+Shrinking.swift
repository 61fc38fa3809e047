extension Dictionary {
  /// Whether the table is much larger than its content.
  var isLoose: Bool { capacity > 1024 && count < capacity / 4 }

  /// Replaces a loose table by one that fits.
  mutating func shrinkIfLoose() {
    guard isLoose else { return }
    var fitting: Self = [:]
    fitting.reserveCapacity(count)
    for (key, value) in self { fitting[key] = value }
    self = fitting
  }
}
