import RelayConfiguration
import Testing

/// Numbers at and beyond the extremes of each key; ServerTests runs a relay with the largest and
/// smallest accepted ones.
@Suite struct `A number in a configuration file` {
  private static func yaml(_ key: ConfigurationKey, _ value: String) -> String {
    key.section.map { "\($0): { \(key.name): \(value) }" } ?? "\(key.path): \(value)"
  }

  @Test func `that is no integer, or beyond its range, is refused in a sentence`() throws {
    let numbers = ConfigurationKey.all.filter { $0.range != nil }
    #expect(numbers.count > 20)
    for key in numbers {
      let range = try #require(key.range)
      for value in [
        "\(Int64.max)", "\(Int64.min)", "9223372036854775808", "1e308", "0.5", "0x7f", "-1",
        "999999999999999999999999999999", "\(range.upperBound + 1)", ".inf", "~",
      ] {
        let wrong = try complaints(about: Self.yaml(key, value))
        #expect(wrong.first?.hasPrefix(":1: \(key.path) is ") == true, "\(wrong)")
        #expect(wrong.first?.hasSuffix("; expected \(key.expected)") == true, "\(wrong)")
      }
    }
  }
}
