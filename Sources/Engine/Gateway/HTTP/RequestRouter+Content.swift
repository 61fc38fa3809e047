import WebSocket
import Wire

/// The content of a request, as its head describes it.
extension RequestRouter {
  /// What the content of a request is.
  enum ContentType {
    case json
    /// JSON or a form.
    case form
    /// A part of a file.
    case upload
    /// It has none; one that a client sends nevertheless is JSON.
    case nothing
  }

  /// Checks the header fields that describe the content.
  /// - Parameter type: of the content, besides JSON.
  func readContent(
    of request: HTTPRequest, _ type: ContentType, into call: inout HTTPCall
  ) throws(HTTPProblem) {
    if type == .nothing, [.none, .length(0)].contains(request.content) { return }
    let contentLimitBytes = type == .upload ? fileLimitBytes ?? 0 : contentLimitBytes
    switch request.content {
    case .length(let bytes?) where contentLimitBytes == 0 || bytes <= contentLimitBytes:
      call.contentBytes = bytes
    case .length:
      guard type == .upload else {
        throw HTTPProblem(
          413, "The content is longer than \(contentLimitBytes) bytes (limits.frame_bytes).",
          code: .tooLarge)
      }
      throw .fileTooLarge(limitBytes: contentLimitBytes)
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
    let field = request.headers.only("Content-Type")?.prefix { $0 != ";" }
    let name = field?.filter { $0 != " " && $0 != "\t" }.lowercased()
    if type == .upload {
      guard name == Tus.mediaType || name == nil && call.contentBytes == 0 else {
        throw HTTPProblem(
          415, "The content of an upload needs Content-Type: \(Tus.mediaType).", code: .badField,
          field: "Content-Type")
      }
    } else {
      guard
        name == "application/json" || type == .form && name == "application/x-www-form-urlencoded"
      else {
        throw HTTPProblem(
          415, "The content must be JSON: Content-Type: application/json.", code: .badField,
          field: "Content-Type")
      }
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
