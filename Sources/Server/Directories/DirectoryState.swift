internal import Relay
internal import Wire

/// The state of a directory, which is persisted over restarts.
struct DirectoryState: Equatable, Sendable {
  /// The kind, URL and source of the directory. State of another directory is discarded.
  var identity: String
  /// When the list was last completed, in milliseconds since 1970; 0 = never.
  var asOf: Int64 = 0
  /// The pages of the last complete list.
  var pages: [Page] = []
  /// A list that is still being read.
  var walk: PageWalk?
  /// The current rate limits, by bucket.
  var limits: [String: RateLimit] = [:]
  /// Facts about the source, such as an account's id.
  var memory: [String: String] = [:]

  init(identity: String) { self.identity = identity }

  /// All pages merged.
  var listing: Listing {
    pages.reduce(into: Listing()) { $0.add($1.listing) }
  }
}

// MARK: - JSON

extension DirectoryState {
  private static let version: Int64 = 2

  var json: [UInt8] {
    var json = Array("{\"version\":\(Self.version),\"identity\":".utf8)
    json.append(jsonString: identity)
    json += Array(",\"as_of\":\(asOf),\"pages\":".utf8)
    json.append(pages: pages)
    if let walk {
      json += Array(",\n\"walk\":{\"began\":\(walk.began),\"pages\":".utf8)
      json.append(pages: walk.pages)
      json.append(member: "next", walk.next)
      json.append(UInt8(ascii: "}"))
    }
    json += Array(",\n\"limits\":[".utf8)
    for (index, (bucket, limit)) in limits.sorted(by: { $0.key < $1.key }).enumerated() {
      json += Array("\(index > 0 ? "," : ""){\"until\":\(limit.until)".utf8)
      json.append(member: "bucket", bucket)
      json += Array(limit.isKnown ? ",\"known\":1}".utf8 : "}".utf8)
    }
    json += Array("],\"memory\":[".utf8)
    for (index, (name, value)) in memory.sorted(by: { $0.key < $1.key }).enumerated() {
      json += Array("\(index > 0 ? "," : ""){\"name\":".utf8)
      json.append(jsonString: name)
      json.append(member: "value", value)
      json.append(UInt8(ascii: "}"))
    }
    json += Array("]}\n".utf8)
    return json
  }

  /// Returns `nil` if neither this version nor the one before did write it.
  init?(_ json: [UInt8]) {
    guard let root = JSONNode(json), let version = root["version"]?.integer,
      (1...Self.version).contains(version), let identity = root["identity"]?.string,
      let asOf = root["as_of"]?.integer,
      let pages = Self.pages(root["pages"])
    else { return nil }
    self.identity = identity
    self.asOf = asOf
    self.pages = pages
    if let node = root["walk"] {
      guard let began = node["began"]?.integer, let walked = Self.pages(node["pages"]),
        let next = node["next"]?.string
      else { return nil }
      walk = PageWalk(from: next, at: began)
      walk?.pages = walked
    }
    for node in root["limits"]?.elements ?? [] {
      guard let bucket = node["bucket"]?.string, let until = node["until"]?.integer
      else { return nil }
      limits[bucket] = RateLimit(until: until, isKnown: node["known"] != nil)
    }
    for node in root["memory"]?.elements ?? [] {
      guard let name = node["name"]?.string, let value = node["value"]?.string
      else { return nil }
      memory[name] = value
    }
    // The people of the first version have no ids: without ETags their pages are read whole again.
    if version == 1 {
      for index in self.pages.indices { self.pages[index].etag = nil }
      for index in (walk?.pages ?? []).indices { walk?.pages[index].etag = nil }
    }
  }

  private static func pages(_ node: JSONNode?) -> [Page]? {
    guard let elements = node?.elements else { return nil }
    var pages: [Page] = []
    for node in elements {
      guard let url = node["url"]?.string, let people = node["people"]?.elements,
        let leftOut = node["left_out"]?.integer
      else { return nil }
      var page = Page(url: url, etag: node["etag"]?.string)
      page.next = node["next"]?.string
      var kept: [Person] = []
      for person in people {
        guard let user = person["user"]?.string, UserName.isValid(user),
          let name = person["name"]?.string
        else { return nil }
        kept.append(
          Person(
            user: user, name: name, avatar: person["avatar"]?.string, id: person["id"]?.string))
      }
      page.listing = Listing(people: kept, leftOut: Int(leftOut))
      pages.append(page)
    }
    return pages
  }
}

extension [UInt8] {
  fileprivate mutating func append(member name: String, _ value: String?) {
    guard let value else { return }
    self += Array(",\"\(name)\":".utf8)
    append(jsonString: value)
  }

  fileprivate mutating func append(pages: [Page]) {
    append(UInt8(ascii: "["))
    for (index, page) in pages.enumerated() {
      self += Array("\(index > 0 ? "," : "")\n{\"left_out\":\(page.listing.leftOut)".utf8)
      append(member: "url", page.url)
      append(member: "etag", page.etag)
      append(member: "next", page.next)
      self += Array(",\"people\":[".utf8)
      for (place, person) in page.listing.people.enumerated() {
        self += Array("\(place > 0 ? "," : "")\n{\"user\":".utf8)
        append(jsonString: person.user)
        append(member: "name", person.name)
        append(member: "avatar", person.avatar)
        append(member: "id", person.id)
        append(UInt8(ascii: "}"))
      }
      self += Array("]}".utf8)
    }
    append(UInt8(ascii: "]"))
  }
}
