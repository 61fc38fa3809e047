/// Objects that are larger than what may be in memory
/// (<https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html>).
extension S3Storage {
  /// In memory at once. S3 wants at least 5 MiB of each part but the last.
  public static let partBytes = 16 << 20
  /// The number of parts that S3 takes.
  public static let partsLimit = 10_000
  /// The size of the largest object.
  public static let objectLimitBytes = partBytes * partsLimit

  /// Stores an object, or replaces it: one that is larger than `partBytes` in parts.
  ///
  /// Parts of an object that did not become one stay at the service, if this program is killed meanwhile. They are in no list of
  /// objects; a rule of the bucket can remove them.
  /// - Parameter read: returns a part of the object.
  public func put(
    _ name: String, bytes size: Int64, read: (Range<Int64>) throws(StorageError) -> [UInt8]
  ) throws(StorageError) {
    guard size > Self.partBytes else { return try put(try read(0..<size), as: name) }
    let begun = try request("POST", name, query: [("uploads", "")])
    let text = String(decoding: begun.body, as: UTF8.self)
    guard let upload = Self.texts(of: "UploadId", in: text).first.map(Self.unescaped) else {
      throw unreachable("it does not name the upload of an object in parts")
    }
    do throws(StorageError) {
      let tags = try putParts(of: name, upload, size, read)
      try complete(name, upload, tags, size)
    } catch {
      _ = try? request("DELETE", name, query: [("uploadId", upload)])
      throw error
    }
  }

  private func putParts(
    of name: String, _ upload: String, _ size: Int64,
    _ read: (Range<Int64>) throws(StorageError) -> [UInt8]
  ) throws(StorageError) -> [String] {
    var tags: [String] = []
    var start: Int64 = 0
    while start < size {
      let end = min(size, start + Int64(Self.partBytes))
      let query = [("partNumber", String(tags.count + 1)), ("uploadId", upload)]
      tags.append(try request("PUT", name, query: query, content: try read(start..<end)).tag)
      start = end
    }
    return tags
  }

  private func complete(
    _ name: String, _ upload: String, _ tags: [String], _ size: Int64
  ) throws(StorageError) {
    let parts = tags.enumerated().map {
      "<Part><PartNumber>\($0.offset + 1)</PartNumber><ETag>\($0.element)</ETag></Part>"
    }
    let document =
      "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(parts.joined())"
      + "</CompleteMultipartUpload>"
    do throws(StorageError) {
      let answer = try request(
        "POST", name, query: [("uploadId", upload)], content: Array(document.utf8))
      // The service has begun to answer before it knew.
      let text = String(decoding: answer.body, as: UTF8.self)
      if let code = Self.texts(of: "Code", in: text).first {
        throw unreachable("it answers \(code) to the last request about an object in parts")
      }
    } catch {
      // The answer to the first attempt was lost.
      guard error.kind == .missing, let found = try? part(0..<1, of: name), found.size == size
      else { throw error }
    }
  }
}
