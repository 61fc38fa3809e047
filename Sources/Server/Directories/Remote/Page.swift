/// One page of a list.
struct Page: Equatable, Sendable {
  var url: String
  /// The ETag for a conditional request.
  var etag: String?
  /// `nil` on the last page.
  var next: String?
  var listing = Listing()

  init(url: String, etag: String? = nil) {
    self.url = url
    self.etag = etag
  }
}
