import Testing
import WebSocket

@testable import Gateway

@Suite struct `Values with weights, RFC 9110 §12.4.2` {
  @Test(arguments: [
    ("a", 1000), ("A", 1000), ("a;q=0.5", 500), ("a ; q=0.001", 1), ("a;x=1;q=0.25", 250),
    ("a;q=0", 0), ("a;q=1.000", 1000), ("a;Q=0.5", 500), ("b", 0), ("*", 300), ("*;q=0.2, a", 1000),
    ("a;q=0, *", 0),
  ])
  func `have the weight that the client gives them`(field: String, weight: Int) {
    let values = WeightedValues(field.split(separator: ",").map { $0 == "*" ? "*;q=0.3" : $0 })
    #expect(values.weight("a", "*") == weight)
  }

  @Test(arguments: ["a;q=", "a;q=2", "a;q=1.1", "a;q=-1", "a;q=0.0001", "a;q=0.+1", "a;q=x", ";"])
  func `are ignored if the weight cannot be read`(element: String) {
    #expect(WeightedValues([element]).weight("a") == 0)
  }

  @Test(arguments: [
    ("image/png", true), ("image/png, image/webp;q=0.9", true), ("image/png, */*;q=0.8", true),
    ("IMAGE/PNG;q=0.2", true), ("image/webp;q=0, image/*", true),
    ("image/png, image/webp", false), ("image/png;q=0.5, image/webp", false), ("*/*", false),
    ("image/*", false), ("image/png;q=0", false), ("text/html", false),
    ("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", false),
  ])
  func `choose PNG for a thumbnail only if WebP is less wanted`(accepted: String, isPNG: Bool)
    throws
  {
    let head = "GET / HTTP/1.1\r\nHost: relay\r\nAccept: \(accepted)\r\n\r\n"
    let request = try #require(
      try HTTPRequest.read(Array(head.utf8).span, headerLimitBytes: 0)?.request)
    #expect(DownloadExchange.prefersPNG(request) == isPNG)
  }
}
