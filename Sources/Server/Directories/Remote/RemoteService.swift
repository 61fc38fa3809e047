/// A service that lists people page by page.
///
/// Confined to the directory's thread; `firstPage` and `page` block while they ask.
protocol RemoteService: Sendable {
  /// Where the list begins.
  /// - Parameter memory: facts about the source that outlive the process, such as an account's id.
  func firstPage(_ exchange: Exchange, _ memory: inout [String: String]) throws(FetchError)
    -> String

  /// One page, and where the next one is.
  /// - Returns: `nil` where the page with this ETag is still as it was.
  func page(_ url: String, etag: String?, _ exchange: Exchange) throws(FetchError) -> Page?
}
