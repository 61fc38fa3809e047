internal import Relay
internal import Wire

/// A client that uploads files over HTTP, whole or in parts and across breaks, sends and forwards them, changes and deletes
/// the entries, and downloads. One request is in flight at a time, and each is repeated until it is answered.
final class FileParticipant: HTTPParticipant {
  enum Question {
    case create
    /// Bytes of it may have changed on the way, so that it does not have its checksum.
    case append(isDamaged: Bool)
    case progress
    case terminate
    case post
    case download(Download)
  }

  /// An upload that is under way.
  struct Upload {
    var content: [UInt8]
    /// `nil` = it has not begun, as far as the client knows.
    var id: String?
    var offset = 0
    /// Whether the client does not know how far it is.
    var isUnsure = false
    var hadBreak = false
    /// Whether it is to be given up.
    var isRefused = false
  }

  struct Post {
    var send: ClientMessage.Send
    /// The number of setbacks when the file's upload was complete, if this is the first entry that names it.
    var isFirstSince: Int?
    var attempts = 0
  }

  struct Download {
    var id: String
    var isThumbnail: Bool
    /// Where the file was named when it was requested, and the heads of all rooms then.
    var places: [FileModel.Place]
    var heads: [String: Int64]
  }

  let name: String
  let user: String
  private(set) var http: HTTPEnd?
  unowned let world: Simulation
  private let index: Int
  private var acts = true
  private var question: Question?
  var upload: Upload?
  var posts: [Post] = []
  private var sent = 0
  /// Its own acknowledged entries.
  var own: [FileModel.Place] = []
  /// Files that it has uploaded.
  var uploaded: [String] = []
  private var nextAct: Int64
  private var connectAt: Int64
  private var askedAt: Int64 = 0

  /// Longer than the relay takes for any answer, in milliseconds.
  private static let patienceMilliseconds: Int64 = 40_000

  init(_ name: String, user: String, _ world: Simulation) {
    self.name = name
    self.user = user
    self.world = world
    index = world.clients.count
    connectAt = world.now.monotonic + world.pick(0...300)
    nextAct = connectAt
  }

  var files: FileModel { world.referee.files }

  // MARK: - A turn

  func turn() {
    let now = world.now.monotonic
    takeEvents()
    if question == nil, connectAt <= now { ask() }
    if http != nil, question != nil, now - askedAt > Self.patienceMilliseconds {
      world.referee.tally.count(.clientTimedOut)
      drop()
    }
    http?.flush(world)
    var next = [now + 3000]
    if question == nil, hasWork { next.append(connectAt) }
    if question == nil, acts { next.append(max(connectAt, nextAct)) }
    schedule(index, at: next, in: world, pause: 1)
  }

  private var hasWork: Bool { upload != nil || !posts.isEmpty }

  /// Makes the next request, if there is one.
  private func ask() {
    if acts, nextAct <= world.now.monotonic {
      nextAct = world.now.monotonic + world.pick(0...world.scenario.pauseMilliseconds)
      act()
    }
    guard question == nil, hasWork, let http = connection() else { return }
    if posts.isEmpty || upload != nil && world.chance(50) {
      goOn(http)
    } else {
      post(http)
    }
  }

  private func connection() -> HTTPEnd? {
    if let http { return http }
    guard let link = world.connectLink(user, kind: .honest) else {
      connectAt = world.now.monotonic + world.pick(20...500)
      return nil
    }
    let http = HTTPEnd(link)
    self.http = http
    return http
  }

  private func expect(_ question: Question) {
    self.question = question
    askedAt = world.now.monotonic
  }

  // MARK: - Actions

  private func act() {
    switch Int.random(in: 0..<100, using: &world.random) {
    case 0..<35 where upload == nil: upload = Upload(content: content())
    case 35..<50: forward()
    case 50..<65: change { .init(room: $0, id: $1, delete: $2) }
    case 65..<72: change { .init(room: $0, id: $1, edit: $2, text: "meant otherwise") }
    case 72..<78:
      if let entry = world.referee.ledger.fileEntries.randomElement(using: &world.random) {
        enqueue { .init(room: $0, id: $1, react: entry.seq, emoji: "👍", isOn: true) }(entry.room)
      }
    default: download()
    }
  }

  /// Returns one of a few contents, so that files share their bytes.
  private func content() -> [UInt8] {
    let number = world.pick(0...5)
    let bytes = [0, 40, 300, 2000, 5000, 3][Int(number)]
    return Array("\(number % 2 == 0 ? "P" : "a") file with the number \(number).".utf8)
      .repeated(toBytes: bytes)
  }

  /// The room of the next entry.
  private func anyRoom() -> String {
    if world.chance(15) { return files.attic }
    return room(
      in: world.chance(25) ? Simulation.dens : Simulation.rooms, using: &world.random)
  }

  private func enqueue(
    since setbacks: Int? = nil, _ make: @escaping (String, String) -> ClientMessage.Send
  ) -> (String) -> Void {
    { [self] room in
      guard posts.count < 10 else { return }
      sent += 1
      posts.append(Post(send: make(room, "\(name)-\(sent)"), isFirstSince: setbacks))
    }
  }

  private func named(_ id: String) -> (String, String) -> ClientMessage.Send {
    let caption = world.chance(40) ? "caption \(sent)" : nil
    return { room, entry in
      .init(room: room, id: entry, file: FileContent(id: id, name: "a file", caption: caption))
    }
  }

  /// Names a file that is named elsewhere, or one of its own again, whether the user may or not.
  private func forward() {
    let entries = world.referee.ledger.fileEntries
    var id = entries.randomElement(using: &world.random)?.file?.id
    if world.chance(30) { id = uploaded.randomElement(using: &world.random) ?? id }
    if let id { enqueue(named(id))(anyRoom()) }
  }

  private func change(_ make: @escaping (String, String, Int64) -> ClientMessage.Send) {
    guard let place = own.suffix(20).randomElement(using: &world.random) else { return }
    enqueue { make($0, $1, place.seq) }(place.room)
  }

  /// Finishes with a file that is uploaded: most are sent, some left alone, some removed.
  func finish(_ id: String, _ content: [UInt8]) {
    uploaded = uploaded.suffix(20) + [id]
    world.referee.tally.count(.fileUploaded)
    if world.chance(80) {
      enqueue(since: files.setbacks, named(id))(anyRoom())
      upload = nil
    } else if world.chance(50) {
      upload = nil
    } else {
      upload?.isRefused = true
    }
  }

  // MARK: - Requests

  private static let tus = "Tus-Resumable: 1.0.0"
  private static let type = "application/offset+octet-stream"

  /// Goes on with the upload.
  private func goOn(_ http: HTTPEnd) {
    guard let upload else { return }
    guard let id = upload.id else {
      // Some begin with the first part.
      let part = world.chance(50) ? Array(upload.content.prefix(partBytes(of: upload))) : []
      http.request(
        "POST", "/v1/files?\(http.link.query)",
        [Self.tus, "Upload-Length: \(upload.content.count)", "Upload-Metadata: filename YQ=="],
        content: part, type: Self.type)
      return expect(.create)
    }
    let target = "/v1/files/\(id)?\(http.link.query)"
    if upload.isRefused {
      http.request("DELETE", target, [Self.tus])
      expect(.terminate)
    } else if upload.isUnsure {
      http.request("HEAD", target, [Self.tus])
      expect(.progress)
    } else {
      var part = Array(upload.content[upload.offset...].prefix(partBytes(of: upload)))
      var isDamaged = false
      var head = [Self.tus, "Upload-Offset: \(upload.offset)"]
      if world.chance(30) {
        head.append("Upload-Checksum: sha256 \(Simulation.checksum(of: part))")
        isDamaged = !part.isEmpty && world.chance(30)
        if isDamaged { part[0] ^= 1 }
      }
      http.request("PATCH", target, head, content: part, type: Self.type)
      expect(.append(isDamaged: isDamaged))
    }
  }

  private func partBytes(of upload: Upload) -> Int {
    let rest = upload.content.count - upload.offset
    return world.chance(50) ? rest : Int.random(in: 0...rest, using: &world.random)
  }

  private func post(_ http: HTTPEnd) {
    posts[0].attempts += 1
    let send = posts[0].send
    if case .file(let id, _)? = send.reference { files.recordSent(id, to: send.room) }
    world.referee.recordSent(send, by: user)
    let text = String(decoding: ClientMessage.send(send).json, as: UTF8.self)
    http.request(
      "POST", "\(messages(of: send.room))?\(http.link.query)", content: Array(text.utf8))
    expect(.post)
  }

  /// Asks for a file, whether the user may read it or not.
  private func download() {
    let ledger = world.referee.ledger
    var id = ledger.fileEntries.randomElement(using: &world.random)?.file?.id
    if world.chance(25) { id = files.known.keys.sorted().randomElement(using: &world.random) ?? id }
    guard let id, let http = connection() else { return }
    let isThumbnail = world.chance(20)
    http.request(
      "GET", "/v1/files/\(id)\(isThumbnail ? "/thumbnail" : "")?\(http.link.query)")
    expect(
      .download(
        Download(
          id: id, isThumbnail: isThumbnail, places: ledger.places(ofFile: id),
          heads: ledger.heads)))
  }

  // MARK: - Answers

  func take(_ response: HTTPEnd.Response, _ link: Link) {
    guard let question else { return }
    self.question = nil
    world.referee.trace { "\(link.number) ← HTTP \(response.status) to \(question)" }
    world.referee.digest(response.body.span)
    let isForNow = [408, 429, 503, 507].contains(response.status)
    if isForNow {
      connectAt = world.now.monotonic + (response.retryAfterMilliseconds ?? 500)
      lose(question)
    } else {
      take(response, to: question, link)
    }
    if isForNow || response.field("connection") == "close" { drop() }
  }

  func drop() {
    if let http { world.abandon(http.link) }
    http = nil
    if let question { lose(question) }
    question = nil
    connectAt = max(connectAt, world.now.monotonic + world.pick(0...500))
  }

  /// A request may have been carried out or not.
  private func lose(_ question: Question) {
    switch question {
    case .append, .progress:
      upload?.isUnsure = true
      upload?.hadBreak = true
    case .create, .terminate, .post, .download: break
    }
  }

  // MARK: - End of the run

  func stopActing() { acts = false }

  var isIdle: Bool { !hasWork && question == nil }

  func checkIdle() {
    if let upload { world.referee.fault("\(name): an upload does not end: \(upload)") }
    if let post = posts.first {
      world.referee.fault("\(name): \(post.send.id) was never accepted by \(post.send.room)")
    }
  }
}

extension [UInt8] {
  fileprivate func repeated(toBytes count: Int) -> Self {
    Array(repeatElement(self, count: count / self.count + 1).joined().prefix(count))
  }
}
