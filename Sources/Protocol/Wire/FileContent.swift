/// What the relay says of a file: it has looked at the bytes.
public struct FileDescription: Equatable, Sendable {
  /// A small picture of it, at most 640 px wide and high.
  public struct Thumbnail: Equatable, Sendable {
    public var width: Int64
    public var height: Int64
    /// A hash of some 30 bytes from which a blurred picture is drawn, in Base64.
    public var placeholder: String

    public init(width: Int64, height: Int64, placeholder: String) {
      self.width = width
      self.height = height
      self.placeholder = placeholder
    }
  }

  /// In bytes, as it is served.
  public var size: Int64
  public var mediaType: String
  /// In pixels, of a picture that is upright.
  public var width: Int64?
  public var height: Int64?
  public var durationMilliseconds: Int64?
  public var thumbnail: Thumbnail?

  public init(
    size: Int64, mediaType: String, width: Int64? = nil, height: Int64? = nil,
    durationMilliseconds: Int64? = nil, thumbnail: Thumbnail? = nil
  ) {
    self.size = size
    self.mediaType = mediaType
    self.width = width
    self.height = height
    self.durationMilliseconds = durationMilliseconds
    self.thumbnail = thumbnail
  }

  /// Its JSON members without braces.
  public var body: [UInt8] {
    var body: [UInt8] = []
    body.append(member: "\"size\":", size)
    body.append(member: ",\"media_type\":", mediaType)
    if let width { body.append(member: ",\"width\":", width) }
    if let height { body.append(member: ",\"height\":", height) }
    if let durationMilliseconds {
      body.append(member: ",\"duration_ms\":", durationMilliseconds)
    }
    if let thumbnail {
      body.append(member: ",\"thumbnail\":{\"width\":", thumbnail.width)
      body.append(member: ",\"height\":", thumbnail.height)
      body.append(member: ",\"placeholder\":", thumbnail.placeholder)
      body.append("}")
    }
    return body
  }

  /// Reads `body`; `nil` if it is not one.
  public init?(body: [UInt8]) {
    let object = [UInt8(ascii: "{")] + body + [UInt8(ascii: "}")]
    guard let reader = try? ObjectReader(object.span) else { return nil }
    self.init(reader, object.span)
  }

  init?(_ reader: ObjectReader, _ json: Span<UInt8>) {
    guard let size = json.jsonSequence(reader.fields[.size]),
      let mediaType = reader.optionalString(.mediaType, json)
    else { return nil }
    self.init(
      size: size, mediaType: mediaType, width: json.jsonSequence(reader.fields[.width]),
      height: json.jsonSequence(reader.fields[.height]),
      durationMilliseconds: json.jsonSequence(reader.fields[.durationMilliseconds]),
      thumbnail: (try? reader.object(.thumbnail, json)) ?? nil)
  }
}

extension FileDescription.Thumbnail: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    self.init(
      width: try reader.integer(.width, json), height: try reader.integer(.height, json),
      placeholder: try reader.string(.placeholder, json))
  }
}

/// An entry of kind `file`: a name for a file that was uploaded.
public struct FileContent: Equatable, Sendable {
  /// The name of the file in `/v1/files`.
  public var id: String
  /// What its sender calls it: 1 to 255 bytes.
  public var name: String
  public var caption: String?
  /// The `seq` of the entry that it replies to.
  public var replyTo: Int64?
  /// Set by the relay.
  public var description: FileDescription?

  public init(
    id: String, name: String, caption: String? = nil, replyTo: Int64? = nil,
    description: FileDescription? = nil
  ) {
    self.id = id
    self.name = name
    self.caption = caption
    self.replyTo = replyTo
    self.description = description
  }

  public static let nameLimitBytes = 255

  /// Whether this can be the name of a file: it has no `/`, and nothing that changes how the text around it
  /// is read.
  public static func isValid(name: String) -> Bool {
    guard (1...nameLimitBytes).contains(name.utf8.count), name != ".", name != ".." else {
      return false
    }
    return name.unicodeScalars.allSatisfy {
      $0 != "/" && $0.properties.generalCategory != .control && !$0.properties.isBidiControl
        && $0.properties.generalCategory != .lineSeparator
        && $0.properties.generalCategory != .paragraphSeparator
    } && !name.unicodeScalars.allSatisfy(\.isBlank)
  }

  /// Whether this can be the `id` of a file: 22 characters of Base64 for URLs (RFC 4648 §5).
  public static func isValid(id: String) -> Bool {
    id.utf8.count == 22
      && id.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  /// Its JSON members without braces, as in the body of an entry.
  public var body: [UInt8] {
    var body: [UInt8] = []
    body.append(member: "\"file\":", id)
    body.append(member: ",\"name\":", name)
    if let caption { body.append(member: ",\"text\":", caption) }
    if let replyTo { body.append(member: ",\"reply_to\":", replyTo) }
    if let description {
      body.append(",")
      body += description.body
    }
    return body
  }

  /// Reads the body of an entry; `nil` of one that was deleted.
  init?(_ reader: ObjectReader, _ json: Span<UInt8>) {
    guard let id = reader.optionalString(.file, json),
      let name = reader.optionalString(.name, json)
    else { return nil }
    self.init(
      id: id, name: name, caption: reader.optionalString(.text, json),
      replyTo: json.jsonSequence(reader.fields[.replyTo]),
      description: FileDescription(reader, json))
  }
}
