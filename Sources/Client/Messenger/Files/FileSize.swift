package import Wire

/// Sizes of files for people: `3.1 MB`, in powers of 1000.
package enum FileSize {
  private static let units = ["bytes", "kB", "MB", "GB"]

  private static func unit(of bytes: Int64) -> Int {
    bytes < 1000 ? 0 : bytes < 1_000_000 ? 1 : bytes < 1_000_000_000 ? 2 : 3
  }

  private static func divisor(_ unit: Int) -> Int64 { [1, 1000, 1_000_000, 1_000_000_000][unit] }

  /// Returns a size without a fraction: `12 MB`.
  package static func rounded(_ bytes: Int64) -> String {
    let unit = unit(of: bytes)
    let divisor = divisor(unit)
    let (whole, rest) = bytes.quotientAndRemainder(dividingBy: divisor)
    return "\(rest * 2 >= divisor ? whole + 1 : whole) \(units[unit])"
  }

  /// Returns how much of a size there is, in the unit of the size: `3.1 of 12 MB`.
  package static func progress(_ bytes: Int64, of size: Int64) -> String {
    let unit = unit(of: size)
    if unit == 0 { return "\(bytes) of \(rounded(size))" }
    let tenths = min(bytes, size) / (divisor(unit) / 10)
    return "\(tenths / 10).\(tenths % 10) of \(rounded(size))"
  }
}

extension FileContent {
  /// Its name and size.
  package var label: String {
    description.map { "\(name) (\(FileSize.rounded($0.size)))" } ?? name
  }
}
