/// Chooses between alternatives: from the seed of a simulation, or from the bytes of a fuzzer.
public protocol Chooser {
  /// Returns a number from 0 to below `count`, which is at least 1.
  mutating func choose(_ count: Int) -> Int
}

extension Chooser {
  /// Returns true once in `count` times.
  mutating func once(in count: Int) -> Bool { choose(count) == count - 1 }

  /// Returns one of several elements; the first if the source of choices is exhausted.
  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[choose(elements.count)]
  }
}
