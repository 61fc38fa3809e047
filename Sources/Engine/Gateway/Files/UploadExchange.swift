import Relay
import WebSocket
import Wire

/// `POST /v1/files` and `PATCH /v1/files/{id}`: an upload begins, or goes on.
///
/// The content is never kept: what was read is handed over to what keeps the bytes, and the connection is not read
/// again until that has written it. So an upload has one block in memory, whatever its size is, and a disk that is
/// slow slows the client.
final class UploadExchange: FileExchange {
  enum Purpose {
    case create(bytes: Int64, metadata: String)
    case append(to: String, offset: Int64)
  }

  private enum Step {
    /// The upload does not exist yet.
    case creating
    /// The user may have room at the next sweep.
    case recounting
    /// Whether the content may come is being asked.
    case beginning
    /// The client has to send.
    case receiving
    case writing(bytes: Int)
    /// The user sends too much: nothing is read until then, in milliseconds of the loop's clock.
    case slowed(until: Int64, cost: Int)
    /// All content has arrived, and is being written and perhaps checked.
    case ending
    /// The upload is complete, the log gets to know the file, and then the upload ends.
    case adding
  }

  private let purpose: Purpose
  private let checksum: UploadChecksum?
  private var step = Step.creating
  private var upload = ""
  /// How far the upload is, as far as this request knows.
  private var offset: Int64 = 0
  private var expiresAt: Int64?
  private var wasSlowed = false
  private var recounts = 0
  /// A second in total: an upload is confirmed within that time of when the log knows its file, unless its client is gone.
  private static let recountsLimit = 4

  init(
    _ purpose: Purpose, _ checksum: UploadChecksum?, _ settings: FileSettings, _ call: HTTPCall,
    _ id: ExchangeID, _ loop: ConnectionLoop, _ connection: ServerConnection
  ) {
    (self.purpose, self.checksum) = (purpose, checksum)
    super.init(settings, call, id, loop, connection)
  }

  override func begin(_ rest: Span<UInt8>) {
    loop.pause(connection, with: rest)
    connection.deadline = loop.now.monotonic + Self.answerMilliseconds
    if let problem = loop.charge(requests: 1, to: user) { return conclude(problem) }
    if loop.isShuttingDown { return conclude(Self.restarting) }
    switch purpose {
    case .create(let bytes, _):
      guard settings.limitBytes == 0 || bytes <= settings.limitBytes else {
        loop.countViolation(.fileBytes, by: connection)
        return conclude(HTTPProblem.fileTooLarge(limitBytes: settings.limitBytes))
      }
      guard Int64(call.contentBytes) <= bytes else { return refuse(.tooLong) }
      ask(.size(of: user))
    case .append(let upload, let offset):
      // The sum of both is used from here on.
      guard !offset.addingReportingOverflow(Int64(call.contentBytes)).overflow else {
        return refuse(.tooLong)
      }
      beginContent(of: upload, at: offset)
    }
  }

  private func beginContent(of upload: String, at offset: Int64) {
    self.upload = upload
    step = .beginning
    keep(
      .begin(
        upload, user: user, offset: offset, bytes: Int64(call.contentBytes),
        isChecked: checksum != nil))
  }

  // MARK: - Content

  override func take(content part: Span<UInt8>) {
    guard part.count > 0 else { return }
    keep(.write(upload, part.copy))
    step = .writing(bytes: part.count)
    connection.deadline = loop.now.monotonic + Self.answerMilliseconds
    loop.pause(connection, with: part.extracting(..<0))
  }

  override func start(_ content: [UInt8]) {
    // The last block is answered first.
    if case .writing = step { return }
    end()
  }

  private func end() {
    step = .ending
    keep(.end(upload, checksum))
  }

  private func receive() {
    step = .receiving
    connection.deadline = idleDeadline
    receiveRest()
  }

  /// Reads on, or ends, unless the user has to wait for what was read.
  private func pace(_ cost: Int) {
    let now = loop.now.monotonic
    let wait = settings.budgets.take(sends: 0, requests: 0, bytes: cost, from: user, now: now)
    guard let wait else { return isReading ? receive() : end() }
    step = .slowed(until: now + wait, cost: cost)
    loop.pacedUploads.insert(id, at: now + wait)
    connection.deadline = 0
    if !wasSlowed { loop.countViolation(.fileBytesPerSecond, by: connection) }
    wasSlowed = true
  }

  // MARK: - Answers of what keeps the bytes

  override func take(_ result: FileWorkResult) {
    guard response == nil else { return }
    switch (step, result) {
    case (.creating, .upload(let state)): beginContent(of: state.id, at: 0)
    case (.beginning, .upload(let state)), (.writing, .upload(let state)),
      (.ending, .upload(let state)):
      (upload, offset, expiresAt) = (state.id, state.offset, state.expiresAt)
      continueUpload()
    case (.beginning, .complete(let file)), (.ending, .complete(let file)):
      (offset, expiresAt) = (uploadBytes, nil)
      step = .adding
      change(.add(file))
    case (.beginning, .nothing):
      // Perhaps it is complete, and its client did not get to know.
      ask(.uploaded(upload, by: user))
    case (.adding, .confirmed): succeed()
    case (.creating, .refused(.userIsFull(_, _, mayCountTwice: true)))
    where recounts < Self.recountsLimit:
      recounts += 1
      step = .recounting
    case (_, .refused(let refusal)): refuse(refusal)
    case (_, .nothing): conclude(HTTPProblem.noFile(upload))
    default: break
    }
  }

  private func continueUpload() {
    switch step {
    case .beginning: receive()
    case .writing(let bytes): pace(settings.price.cost(of: bytes, now: loop.now.monotonic))
    default: succeed()
    }
  }

  /// The length of the upload, if this request completes it.
  private var uploadBytes: Int64 {
    switch purpose {
    case .create(let bytes, _): bytes
    case .append(_, let offset): offset + Int64(call.contentBytes)
    }
  }

  // MARK: - Answers of the log

  override func take(_ answer: FileAnswer) {
    guard response == nil else { return }
    switch (step, answer) {
    case (.creating, .size(let used)):
      guard case .create(let bytes, let metadata) = purpose else { return }
      keep(.create(user: user, bytes: bytes, metadata: metadata, usedBytes: used))
    case (.beginning, .file(let file)):
      guard let file else { return conclude(HTTPProblem.noFile(upload)) }
      // How long the upload of a picture was, is not known any more: the file has what was made of it.
      guard file.thumbnail != nil || uploadBytes == file.description.size else {
        return refuse(.wrongOffset(file.description.size))
      }
      (offset, expiresAt) = (uploadBytes, nil)
      succeed()
    case (.adding, .done): keep(.confirm(upload))
    case (_, .refused(let error)):
      if error.code == .idConflict {
        // The upload has a file, though not of these bytes: this one ends.
        keep(.confirm(upload))
      } else {
        loop.countViolation(.filesBytesPerUser, by: connection)
        // The log does not have the file.
        step = .ending
      }
      conclude(HTTPProblem(error))
    default: concludeUnavailable()
    }
  }

  private func succeed() {
    var response: HTTPResponse
    switch purpose {
    case .create:
      response = HTTPResponse(status: 201)
      response.add("Location", "\(loop.context.router.pathPrefix)/v1/files/\(upload)")
    case .append: response = HTTPResponse(status: 204)
    }
    response.add("Upload-Offset", String(offset))
    if let expiresAt { response.add("Upload-Expires", HTTPDate.text(expiresAt)) }
    conclude(response)
  }

  // MARK: - Ends

  override func sweep() {
    if case .slowed(let until, let cost) = step, response == nil {
      if loop.now.monotonic >= until { pace(cost) }
      return
    }
    if case .recounting = step, response == nil {
      step = .creating
      return ask(.size(of: user))
    }
    super.sweep()
  }

  override func timeOutContent() {
    guard case .receiving = step else { return timeOut() }
    loop.countViolation(.idleTimeout, by: connection)
    let text = "The content did not arrive in time. Go on with the upload from its offset."
    conclude(HTTPProblem.unavailable(text, status: 408))
  }

  override func timeOut() {
    conclude(HTTPProblem.unavailable("The relay did not answer in time; go on with the upload."))
  }

  override func conclude(_ response: HTTPResponse) {
    if response.status >= 400 { abandon() }
    super.conclude(response)
  }

  override func connectionEnded() { if response == nil { abandon() } }

  /// Removes an upload whose name its client does not get to know: it could not go on, and would count for a day.
  private func abandon() {
    guard case .create = purpose, !upload.isEmpty else { return }
    // The log may have the file.
    if case .adding = step { return }
    keep(.terminate(upload, user: user))
  }

  override func beginShutdown() {
    if isReading, response == nil { conclude(Self.restarting) }
  }

  private static var restarting: HTTPProblem {
    .unavailable("The relay is restarting; go on with the upload from its offset.")
  }
}
