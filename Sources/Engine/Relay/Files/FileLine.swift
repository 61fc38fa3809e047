internal import Wire

/// A file that entries name, as a line of an export, after the lines of all entries. Its bytes are not in an export.
package struct FileLine: Equatable {
  package var file: StoredFile

  package init(_ file: StoredFile) { self.file = file }

  /// Appends the line with its line break.
  package func append(to bytes: inout [UInt8]) {
    bytes += Array("{\"type\":\"file\",\"file\":".utf8)
    bytes.append(jsonString: file.id)
    bytes += Array(",\"owner\":".utf8)
    bytes.append(jsonString: file.owner)
    bytes += Array(",\"hash\":\"\(file.hash)\"".utf8)
    if let thumbnail = file.thumbnail {
      bytes += Array(",\"thumbnail_hash\":\"\(thumbnail)\"".utf8)
    }
    bytes += Array(",\"at\":\(file.uploadedAt),".utf8) + file.description.body
    bytes += Array("}\n".utf8)
  }

  /// Decodes a line, without its line break; `nil` if it is another kind of line.
  package init?(decoding line: [UInt8]) throws(ExportLine.Malformed) {
    guard let json = JSONNode(line), json["type"]?.string == "file" else { return nil }
    guard let id = json["file"]?.string, FileContent.isValid(id: id) else {
      throw ExportLine.Malformed(reason: "\"file\" is not the id of a file")
    }
    guard let owner = json["owner"]?.string, owner.isEmpty || UserName.isValid(owner) else {
      throw ExportLine.Malformed(reason: "\"owner\" is not a valid user name")
    }
    let thumbnail = json["thumbnail_hash"]?.string
    guard let hash = json["hash"]?.string, StoredFile.isValid(hash: hash),
      thumbnail.map(StoredFile.isValid(hash:)) ?? true
    else { throw ExportLine.Malformed(reason: "\"hash\" or \"thumbnail_hash\" is not a SHA-256") }
    guard let at = json["at"]?.integer,
      let description = FileDescription(body: Array(line.dropFirst().dropLast()))
    else { throw ExportLine.Malformed(reason: "\"at\", \"size\" or \"media_type\" is missing") }
    file = StoredFile(
      id: id, owner: owner, hash: hash, thumbnail: thumbnail, description: description,
      uploadedAt: at)
  }
}

extension StoredFile {
  /// Whether this can be a hash: 64 hexadecimal digits in lower case, and perhaps the id of an upload.
  package static func isValid(hash: String) -> Bool {
    let (digits, rest) = (hash.utf8.prefix(64), hash.utf8.dropFirst(64))
    return digits.count == 64
      && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
      && (rest.isEmpty
        || rest.first == UInt8(ascii: "-")
          && FileContent.isValid(id: String(Substring(rest.dropFirst()))))
  }
}
