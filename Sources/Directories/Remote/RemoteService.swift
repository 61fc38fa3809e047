/// A service that lists people page by page.
///
/// Confined to the directory's thread; `firstPage` and `page` block while they ask.
protocol RemoteService: Sendable {
  /// Where the list begins.
  /// - Parameter memory: facts about the source that outlive the process, such as an account's id.
  func firstPage(_ exchange: Exchange, _ memory: inout [String: String]) throws(Setback) -> String

  /// One page, and where the next one is.
  /// - Returns: `nil` where the page with this ETag is still as it was.
  func page(_ url: String, etag: String?, _ exchange: Exchange) throws(Setback) -> Page?
}

/// A part of a list, as it was answered.
struct Page: Equatable, Sendable {
  var url: String
  /// What tells whether it has changed since.
  var etag: String?
  /// `nil` on the last page.
  var next: String?
  var listing = Listing()

  init(url: String, etag: String? = nil) {
    self.url = url
    self.etag = etag
  }
}

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
