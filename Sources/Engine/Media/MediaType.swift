/// What a file is served as, by its content alone: a name or a declared type decides nothing.
///
/// Only types are named that a browser may show inside a page. A picture may only once it has been encoded again, and
/// everything else is `other`, a file to download: documents, archives, formats of pictures that are not decoded, and
/// whatever a browser could take for a document with scripts.
public enum MediaType: String, CaseIterable, Sendable {
  case jpeg = "image/jpeg"
  case png = "image/png"
  case webp = "image/webp"

  case mp3 = "audio/mpeg"
  case aac = "audio/aac"
  case flac = "audio/flac"
  case wav = "audio/wav"
  case oggAudio = "audio/ogg"
  case mp4Audio = "audio/mp4"
  case webmAudio = "audio/webm"

  case oggVideo = "video/ogg"
  case mp4Video = "video/mp4"
  case webmVideo = "video/webm"
  case quickTime = "video/quicktime"

  /// UTF-8 that is no markup.
  case text = "text/plain"
  case other = "application/octet-stream"

  public enum Kind: Sendable {
    /// Decoded and encoded again before it is shown.
    case picture
    /// Played as it is.
    case audio, video
    case text
    /// Downloaded only.
    case file
  }

  public var kind: Kind {
    switch self {
    case .jpeg, .png, .webp: .picture
    case .mp3, .aac, .flac, .wav, .oggAudio, .mp4Audio, .webmAudio: .audio
    case .oggVideo, .mp4Video, .webmVideo, .quickTime: .video
    case .text: .text
    case .other: .file
    }
  }
}
