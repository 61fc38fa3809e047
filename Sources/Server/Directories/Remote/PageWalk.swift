/// A list that is being read page by page. Pages that were read are not read again after a rate
/// limit or a failure.
struct PageWalk: Equatable, Sendable {
  /// Milliseconds since 1970.
  var began: Int64
  var pages: [Page] = []
  /// `nil` when all pages are read.
  var next: String?

  /// After this time the list is read from the start, so that its pages are not too far apart in
  /// time.
  static let lifetimeMilliseconds: Int64 = 24 * 3_600_000

  init(from first: String, at began: Int64) {
    next = first
    self.began = began
  }

  /// The number of people so far, including skipped ones.
  var count: Int { pages.reduce(0) { $0 + $1.listing.people.count + $1.listing.leftOut } }

  /// Appends the page at `next`.
  mutating func take(_ page: Page) {
    pages.append(page)
    next = page.next
  }

  /// Whether `next` was read already, because the service's pages form a cycle.
  var isCircle: Bool { pages.contains { $0.url == next } }
}
