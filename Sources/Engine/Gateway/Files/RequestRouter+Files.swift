import WebSocket
import Wire

/// What is requested of `/v1/files`.
enum FileRequest {
  /// Whether the content may follow is decided by the limits of the user.
  case create(bytes: Int64, metadata: String, UploadChecksum?)
  case append(to: String, offset: Int64, UploadChecksum?)
  /// How far an upload is.
  case progress(of: String)
  case terminate(String)
  case content(String, isThumbnail: Bool, HTTPRequest)
  case link(to: String)
}

/// The HTTP resources of files.
extension RequestRouter {
  static let fileResources = [
    Resource("POST", "/v1/files", content: .upload) { (request, _) throws(HTTPProblem) in
      try Tus.check(request)
      return .files(
        .create(
          bytes: try Tus.length("Upload-Length", request), metadata: try Tus.metadata(request),
          try UploadChecksum(request)))
    },
    Resource("GET", "/v1/files/{id}", for: .usersOrLinks) { (request, names) throws(HTTPProblem) in
      // A HEAD of tus asks for an upload, any other one for a file.
      guard Tus.method(of: request) == "HEAD", Tus.isSpoken(in: request) else {
        return .files(.content(try id(names), isThumbnail: false, request))
      }
      try Tus.check(request)
      return .files(.progress(of: try id(names)))
    },
    Resource("PATCH", "/v1/files/{id}", content: .upload) { (request, names) throws(HTTPProblem) in
      try Tus.check(request)
      return .files(
        .append(
          to: try id(names), offset: try Tus.length("Upload-Offset", request),
          try UploadChecksum(request)))
    },
    Resource("DELETE", "/v1/files/{id}") { (request, names) throws(HTTPProblem) in
      try Tus.check(request)
      return .files(.terminate(try id(names)))
    },
    Resource("GET", "/v1/files/{id}/thumbnail", for: .usersOrLinks) {
      (request, names) throws(HTTPProblem) in
      .files(.content(try id(names), isThumbnail: true, request))
    },
    Resource("POST", "/v1/files/{id}/link", content: .nothing) { (_, names) throws(HTTPProblem) in
      .files(.link(to: try id(names)))
    },
  ]

  /// Returns the file that a path names. What is no id reaches no log: one in PostgreSQL takes no NUL.
  private static func id(_ names: [String]) throws(HTTPProblem) -> String {
    guard FileContent.isValid(id: names[0]) else { throw .noFile(names[0]) }
    return names[0]
  }
}

extension HTTPProblem {
  static var noFiles: HTTPProblem {
    HTTPProblem(
      501,
      "This relay keeps no files: its log is in PostgreSQL, and its operator has set no bucket for them (files.s3).",
      code: .unknownType)
  }

  static func fileTooLarge(limitBytes: Int) -> HTTPProblem {
    var problem = HTTPProblem(
      413, "A file has at most \(limitBytes) bytes (limits.file_bytes).", code: .limitReached,
      field: "file_bytes")
    problem.rule = .fileBytes
    return problem
  }

  /// The same for a file that does not exist and for one of others, so that no user can probe for it.
  static func noFile(_ id: String) -> HTTPProblem {
    let name = FileContent.isValid(id: id) ? id : "of this name"
    return HTTPProblem(
      404, "There is no file \(name) that you may read, and no upload of yours.", code: .noSuchEntry
    )
  }
}
