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
