import Client
import Messenger
import Pictures
import Platform
import Terminal

/// Pictures in the conversation: the thumbnails of files, loaded when they are to be seen. They stay in
/// memory only, since who may read them can change.
final class ThumbnailDriver {
  /// The most that are kept, each of at most 384 kB; beyond it, those that were drawn least recently go.
  private static let limit = 32
  /// How often one is asked for that does not come: when it is in view again, and after a reconnection.
  private static let attemptsLimit = 5
  /// Apart from the numbers of people's pictures.
  private static let firstID: UInt32 = 0x7764_0000

  private let terminal: TerminalDriver
  private let host: ChatHost
  private var loader: PictureLoader<WantedThumbnail>?
  /// What was loaded, the most recently drawn last.
  private var loaded: [(wanted: WantedThumbnail, picture: Picture)] = []
  private var nextID = firstID
  /// How often each has not come.
  private var failures: [WantedThumbnail: Int] = [:]
  /// What the last frame has wanted.
  private var inView: Set<WantedThumbnail> = []

  init(_ terminal: TerminalDriver, _ host: ChatHost) {
    self.terminal = terminal
    self.host = host
  }

  /// Begins to show pictures in the way that the terminal can, or in a better one that it has told of.
  func begin() {
    guard host.chat.settings.pictures == .auto, let form = terminal.pictureForm,
      form != host.chat.pictureForm
    else { return }
    if loader == nil {
      loader = try? PictureLoader(on: host.dispatcher) { [unowned self] in resultsArrived() }
    }
    for (wanted, _) in loaded { forget(wanted) }
    loaded = []
    host.chat.pictureForm = loader == nil ? nil : form
    host.redraw()
  }

  func end() {
    deleteAll()
    loader?.end()
  }

  /// Follows what a frame has drawn. One picture is sent with each frame, see `PictureDriver`.
  func follow(_ drawing: Drawing, _ request: PictureRequest?) {
    for wanted in drawing.thumbnails { touch(wanted) }
    let wasInView = inView
    inView = Set(drawing.wantedThumbnails)
    for wanted in inView.subtracting(wasInView) { allowAgain(wanted) }
    for wanted in drawing.wantedThumbnails where host.chat.thumbnails[wanted] == nil {
      if let known = loaded.first(where: { $0.wanted == wanted }) {
        show(known.picture, wanted)
        host.isStale = true
        return terminal.scheduleFrame()
      }
      guard let request, RelayURL.isSegment(wanted.file) else { continue }
      let (width, height) = pixels(of: wanted.box)
      loader?.load(wanted) {
        guard let bytes = request.thumbnail(of: wanted.file) else { return nil }
        return try? PNG.decode(bytes).scaled(to: width, height)
      }
    }
  }

  /// There is a connection again: what did not come is asked for by the next frame.
  func askAgain() {
    for wanted in failures.keys { allowAgain(wanted) }
    host.isStale = true
  }

  private func allowAgain(_ wanted: WantedThumbnail) {
    if let count = failures[wanted], count < Self.attemptsLimit { loader?.forget(wanted) }
  }

  private func pixels(of box: PictureBox) -> (width: Int, height: Int) {
    switch host.chat.pictureForm {
    case .blocks: (box.columns, 2 * box.rows)
    case .sixels(let width, let height): (box.columns * width, box.rows * height)
    case .graphics, nil: box.pixels
    }
  }

  private func touch(_ wanted: WantedThumbnail) {
    guard let place = loaded.firstIndex(where: { $0.wanted == wanted }) else { return }
    loaded.append(loaded.remove(at: place))
  }

  private func resultsArrived() {
    for (wanted, picture) in loader?.takeResults() ?? [] {
      guard let picture else {
        failures[wanted, default: 0] += 1
        continue
      }
      failures[wanted] = nil
      // It may have been scaled for another form.
      guard (picture.width, picture.height) == pixels(of: wanted.box) else {
        loader?.forget(wanted)
        host.isStale = true
        continue
      }
      loaded.append((wanted, picture))
      host.isStale = true
    }
    while loaded.count > Self.limit { forget(loaded.removeFirst().wanted) }
  }

  private func forget(_ wanted: WantedThumbnail) {
    if case .sent(let id) = host.chat.thumbnails.removeValue(forKey: wanted) {
      terminal.show(KittyGraphics.delete(id))
    }
    loader?.forget(wanted)
  }

  private func show(_ picture: Picture, _ wanted: WantedThumbnail) {
    switch host.chat.pictureForm {
    case .blocks: host.chat.thumbnails[wanted] = .colors(Self.colors(of: picture))
    case .sixels(_, let height):
      let bytes = 4 * picture.width * height
      host.chat.thumbnails[wanted] = .sixels(
        (0..<wanted.box.rows).map {
          Sixel.encode(
            width: picture.width, height: height, picture.bytes[$0 * bytes..<($0 + 1) * bytes])
        })
    case .graphics:
      terminal.show(
        KittyGraphics.send(nextID, width: picture.width, height: picture.height, picture.bytes))
      host.chat.thumbnails[wanted] = .sent(nextID)
      nextID += 1
    case nil: break
    }
  }

  /// Returns the colours of the pixels; transparent ones are the terminal's own.
  private static func colors(of picture: Picture) -> [[Color]] {
    (0..<picture.height).map { row in
      (0..<picture.width).map { column in
        let place = 4 * (row * picture.width + column)
        let pixel = picture.bytes[place..<place + 4]
        guard picture.bytes[place + 3] >= 128 else { return .standard }
        return .rgb(pixel[place], pixel[place + 1], pixel[place + 2])
      }
    }
  }

  /// Deletes the pictures from the terminal; the next frame sends those that it draws again.
  func deleteAll() {
    for case .sent(let id) in host.chat.thumbnails.values {
      terminal.show(KittyGraphics.delete(id))
    }
    host.chat.thumbnails = [:]
  }
}

extension TerminalDriver {
  /// How pictures can be shown in a conversation; `nil` with too few colours.
  var pictureForm: PictureForm? {
    if capabilities.hasKittyGraphics { return .graphics }
    if capabilities.hasSixel, let cell = cellSize {
      return .sixels(width: cell.width, height: cell.height)
    }
    return capabilities.hasUTF8 && capabilities.depth >= .colors256 ? .blocks : nil
  }
}
