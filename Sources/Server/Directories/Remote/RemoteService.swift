/// A service that lists people page by page.
///
/// Confined to the directory's thread; `firstPage` and `page` block during their requests.
protocol RemoteService: Sendable {
  /// Returns the URL of the first page.
  /// - Parameter memory: persistent facts about the source, such as an account's id.
  func firstPage(_ exchange: Exchange, _ memory: inout [String: String]) throws(FetchError)
    -> String

  /// Reads one page, with the URL of the next one.
  /// - Returns: `nil` if the page with this ETag has not changed.
  func page(_ url: String, etag: String?, _ exchange: Exchange) throws(FetchError) -> Page?
}
