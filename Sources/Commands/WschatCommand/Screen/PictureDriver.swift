import Client
import Messenger
import Pictures
import Platform
import Terminal
import Wire

/// Pictures of people: loaded when a row of the list wants them, sent to the terminal once, and
/// placed by the differ.
final class PictureDriver {
  /// The most that the terminal keeps for wschat, each of 16 KiB; beyond it, those that were drawn
  /// least recently are deleted.
  private static let limit = 128
  /// The pixels of a side: as many as four by two cells of a usual terminal have.
  private static let side = 64
  /// Unlikely to be another program's: the numbers are the terminal's, not the program's.
  private static let firstID: UInt32 = 0x7763_0000

  private let terminal: TerminalDriver
  private let host: ChatHost
  private let stateFolder: String
  /// `nil` if no pictures are shown.
  private var loader: PictureLoader<String>?
  private lazy var cache = PictureCache(stateFolder: stateFolder, side: Self.side)
  /// What was loaded, by person; at most twice as many as the terminal keeps.
  private var loaded: [String: Picture] = [:]
  /// Those that were sent, the most recently drawn last.
  private var sent: [String] = []
  private var nextID = firstID

  init(_ terminal: TerminalDriver, _ host: ChatHost, stateFolder: String) {
    self.terminal = terminal
    self.host = host
    self.stateFolder = stateFolder
  }

  /// Begins to show pictures, if the terminal can and the user wants them.
  func begin() {
    guard terminal.capabilities.hasKittyGraphics, host.chat.settings.pictures == .auto,
      loader == nil
    else { return }
    loader = attempt({ host.post(.failed($0)) }, { "Pictures are not shown: \($0)." }) {
      () throws(SystemError) in
      try PictureLoader(on: host.dispatcher) { [unowned self] in
        resultsArrived()
      }
    }
    host.chat.showsPictures = loader != nil
  }

  func end() {
    deleteAll()
    loader?.end()
  }

  /// Follows what a frame has drawn. One picture is sent with each frame, so that keys are answered
  /// meanwhile, also over a slow line: no frame is drawn while the terminal takes no output.
  /// - Parameter request: `nil` if nothing can be requested from the relay.
  func follow(_ drawing: Drawing, _ request: PictureRequest?) {
    guard let loader else { return }
    for person in drawing.pictures {
      guard let place = sent.firstIndex(of: person) else { continue }
      sent.remove(at: place)
      sent.append(person)
    }
    var isSent = false
    for person in drawing.wantedPictures {
      if let picture = loaded[person] {
        if !isSent { send(picture, of: person) }
        isSent = true
      } else if let request, UserName.isValid(person) {
        let cache = cache
        loader.load(person) { Self.load(person, request, cache) }
      }
    }
    guard isSent else { return }
    host.isStale = true
    terminal.scheduleFrame()
  }

  /// From the disk, or from the relay.
  private static func load(
    _ person: String, _ request: PictureRequest, _ cache: PictureCache
  ) -> Picture? {
    let key = "\(request.relay.url) \(person)"
    if let picture = cache.picture(for: key) { return picture }
    guard let bytes = request.picture(of: person), let decoded = try? PNG.decode(bytes) else {
      return nil
    }
    let picture = decoded.square(side)
    cache.keep(picture, for: key)
    return picture
  }

  private func resultsArrived() {
    for (person, picture) in loader?.takeResults() ?? [] {
      guard let picture else { continue }
      loaded[person] = picture
      host.isStale = true
    }
    guard loaded.count > 2 * Self.limit else { return }
    for person in loaded.keys where host.chat.pictures[person] == nil { forget(person) }
  }

  /// A picture that is wanted again is loaded again from the disk.
  private func forget(_ person: String) {
    loaded[person] = nil
    loader?.forget(person)
  }

  private func send(_ picture: Picture, of person: String) {
    let id = nextID
    nextID += 1
    terminal.show(
      KittyGraphics.send(id, width: picture.width, height: picture.height, picture.bytes))
    host.chat.pictures[person] = id
    sent.append(person)
    while sent.count > Self.limit {
      let oldest = sent.removeFirst()
      if let id = host.chat.pictures.removeValue(forKey: oldest) {
        terminal.show(KittyGraphics.delete(id))
      }
      forget(oldest)
    }
  }

  /// Deletes the pictures from the terminal; the next frame sends those that it draws again.
  func deleteAll() {
    for id in host.chat.pictures.values.sorted() { terminal.show(KittyGraphics.delete(id)) }
    host.chat.pictures = [:]
    sent = []
  }
}
