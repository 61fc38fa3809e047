import Client
import Messenger
import Pictures
import Terminal

/// Pictures of people: loaded when a row of the list wants them, sent to the terminal once, and
/// placed by the differ.
extension ScreenChat {
  /// The pictures that the terminal has.
  struct TerminalPictures {
    /// The most that the terminal keeps for wschat, each of 16 KiB; beyond it, those that were drawn
    /// least recently are deleted.
    static let limit = 128
    /// Unlikely to be another program's: the numbers are the terminal's, not the program's.
    static let firstID: UInt32 = 0x7763_0000

    var loader: PictureLoader?
    /// What was loaded, by person; at most twice as many.
    var loaded: [String: Picture] = [:]
    /// Those that were sent, the most recently drawn last.
    var sent: [String] = []
    var nextID = firstID
  }

  /// Begins to show pictures, if the terminal can and the user wants them.
  func showPictures() {
    guard capabilities.hasKittyGraphics, options.settings.pictures == .auto, !chat.showsPictures
    else { return }
    guard
      let loader = try? PictureLoader(
        stateFolder: options.stateFolder, on: loop, token: Token.pictures)
    else { return }
    pictures.loader = loader
    chat.showsPictures = true
  }

  /// Follows what a frame has drawn. One picture is sent with each frame, so that keys are answered
  /// meanwhile, also over a slow line: no frame is drawn while the terminal takes no output.
  func followPictures(_ drawing: Drawing) {
    guard let loader = pictures.loader else { return }
    for person in drawing.pictures {
      guard let place = pictures.sent.firstIndex(of: person) else { continue }
      pictures.sent.remove(at: place)
      pictures.sent.append(person)
    }
    guard !drawing.wantedPictures.isEmpty else { return }
    let request = PictureRequest(
      url: configuration.url, trust: configuration.trust, user: chat.user,
      token: token ?? configuration.token)
    var isSent = false
    for person in drawing.wantedPictures {
      if let picture = pictures.loaded[person] {
        if !isSent { send(picture, of: person) }
        isSent = true
      } else if isAuthenticated {
        loader.load(person, request)
      }
    }
    guard isSent else { return }
    isStale = true
    scheduleFrame(afterMilliseconds: Self.frameMilliseconds)
  }

  func takePictures() {
    for (person, picture) in pictures.loader?.take() ?? [] {
      guard let picture else { continue }
      pictures.loaded[person] = picture
      isStale = true
    }
    guard pictures.loaded.count > 2 * TerminalPictures.limit else { return }
    for person in pictures.loaded.keys where chat.pictures[person] == nil { forget(person) }
  }

  /// A picture that is wanted again is loaded again from the disk.
  private func forget(_ person: String) {
    pictures.loaded[person] = nil
    pictures.loader?.forget(person)
  }

  private func send(_ picture: Picture, of person: String) {
    let id = pictures.nextID
    pictures.nextID += 1
    show(KittyGraphics.send(id, width: picture.width, height: picture.height, picture.bytes))
    chat.pictures[person] = id
    pictures.sent.append(person)
    while pictures.sent.count > TerminalPictures.limit {
      let oldest = pictures.sent.removeFirst()
      if let id = chat.pictures.removeValue(forKey: oldest) { show(KittyGraphics.delete(id)) }
      forget(oldest)
    }
  }

  /// Deletes the pictures from the terminal; the next frame sends those that it draws again.
  func deletePictures() {
    for id in chat.pictures.values.sorted() { show(KittyGraphics.delete(id)) }
    chat.pictures = [:]
    pictures.sent = []
  }
}
