/// Decides between alternatives: from the seed of a simulation, or from the bytes of a fuzzer.
public protocol Chooser {
  /// One of the numbers from 0 to below `count`, which is at least 1.
  mutating func choose(_ count: Int) -> Int
}

extension Chooser {
  /// True once in `count` times.
  mutating func once(in count: Int) -> Bool { choose(count) == count - 1 }

  /// One of several; the first where nothing is left to choose from.
  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[choose(elements.count)]
  }
}
