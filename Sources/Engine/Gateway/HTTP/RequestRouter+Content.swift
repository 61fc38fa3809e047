import WebSocket
import Wire

/// The content of a request, as its head describes it.
extension RequestRouter {
  /// Checks the header fields that describe the content.
  func readContent(
    of request: HTTPRequest, takesForm: Bool, into call: inout HTTPCall
  ) throws(HTTPProblem) {
    switch request.content {
    case .length(let bytes?) where contentLimitBytes == 0 || bytes <= contentLimitBytes:
      call.contentBytes = bytes
    case .length:
      throw HTTPProblem(
        413, "The content is longer than \(contentLimitBytes) bytes (limits.frame_bytes).",
        code: .tooLarge)
    case .none:
      throw HTTPProblem(
        411, "Content-Length is required.", code: .badField, field: "Content-Length")
    case .coded(let coding):
      guard coding.lowercased() == "chunked" else {
        throw HTTPProblem(
          501, "This transfer coding is not supported; use Content-Length.", code: .badField,
          field: "Transfer-Encoding")
      }
      throw HTTPProblem(
        411, "Chunked content is not supported; use Content-Length.", code: .badField,
        field: "Transfer-Encoding")
    case .ambiguous:
      throw HTTPProblem(
        400, "Content-Length and Transfer-Encoding cannot be combined (RFC 9112 §6.3).",
        code: .badField, field: "Transfer-Encoding")
    }
    let type = request.headers.only("Content-Type")?.prefix { $0 != ";" }
    let name = type?.filter { $0 != " " && $0 != "\t" }.lowercased()
    guard
      name == "application/json" || takesForm && name == "application/x-www-form-urlencoded"
    else {
      throw HTTPProblem(
        415, "The content must be JSON: Content-Type: application/json.", code: .badField,
        field: "Content-Type")
    }
    if let expectation = request.headers["Expect"].first {
      guard expectation.lowercased() == "100-continue" else {
        throw HTTPProblem(
          417, "The only supported expectation is 100-continue.", code: .badField, field: "Expect")
      }
      call.expectsContinue = true
    }
  }
}
