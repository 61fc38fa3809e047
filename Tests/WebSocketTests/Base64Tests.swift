import Mixing
import Testing
import WebSocket

@Suite struct `Base64, RFC 4648` {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func `the vectors of §10`(text: String, encoded: String) {
    #expect(Base64.encode(Array(text.utf8)) == encoded)
    #expect(Base64.decode(encoded) == Array(text.utf8))
  }

  @Test func `random bytes survive`() {
    var random = SplitMix64(seed: 3)
    for count in 0..<200 {
      let bytes = random.bytes(count)
      #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }
  }

  @Test(arguments: [
    "Zg", "Zg=", "Zg===", "Z===", "====", "Zm9v====", "Zh==", "Zm9=", "Z g=", "Zg==Zg==", "Zm9-",
    "Zm9_", "Zm9v\n", "=m9v", "Zm=v", "é9v",
  ])
  func `anything else is refused`(text: String) {
    #expect(Base64.decode(text) == nil)
  }
}
