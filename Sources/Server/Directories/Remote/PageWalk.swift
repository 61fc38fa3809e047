/// A reading of all pages that has begun. What has been read is not read again when a limit or a
/// failure comes between.
struct PageWalk: Equatable, Sendable {
  /// Milliseconds since 1970.
  var began: Int64
  var pages: [Page] = []
  /// `nil` once all are there.
  var next: String?

  /// After that the pages would be from different times.
  static let lifetimeMilliseconds: Int64 = 24 * 3_600_000

  init(from first: String, at began: Int64) {
    next = first
    self.began = began
  }

  /// How many people are there so far, those left out included.
  var count: Int { pages.reduce(0) { $0 + $1.listing.people.count + $1.listing.leftOut } }

  /// Adds the page at `next`.
  mutating func take(_ page: Page) {
    pages.append(page)
    next = page.next
  }

  /// Whether `next` was read already: a service whose pages run in a circle.
  var isCircle: Bool { pages.contains { $0.url == next } }
}
