internal import Glibc
import Mixing
internal import TLS

/// The uploads of a run with files, derived from a seed alone: which client uploads what, and which entries it deletes
/// again.
public struct FilePlan: Sendable {
  struct Upload: Sendable {
    var number: Int
    var client: Int
    var bytes: Int
    /// Uploads with the same seed and size have the same bytes.
    var seed: UInt64
    /// Whether its entry is deleted once it was served.
    var isDeleted: Bool
  }

  /// What a plan is derived from.
  public struct Settings: Sendable {
    public var seed: UInt64 = 1
    public var uploads = 1000
    public var clients = 10
    public var largestBytes = FilePlan.largestBytes
    public var relayKills = 30
    public var clientKills = 30

    public init() {}
  }

  enum Kill { case relay, client }

  /// The relay's default for `limits.file_bytes`.
  public static let largestBytes = 25 << 20
  public static let smallestBytes = 1 << 10
  /// One in this number of uploads has the bytes of the one before it.
  private static let repeatedShare = 8
  /// One in this number is deleted.
  private static let deletedShare = 5

  let settings: Settings
  private(set) var uploads: [Upload] = []
  /// In their order; they are spread evenly over the acknowledged entries.
  private(set) var kills: [Kill] = []

  public init(_ settings: Settings) {
    self.settings = settings
    var random = SplitMix64(seed: settings.seed)
    for number in 0..<settings.uploads {
      var upload = Upload(
        number: number, client: number % settings.clients,
        bytes: Self.size(random.unit(), largest: settings.largestBytes), seed: random.next(),
        isDeleted: random.below(Self.deletedShare) == 0)
      if random.below(Self.repeatedShare) == 0, let last = uploads.last {
        (upload.bytes, upload.seed) = (last.bytes, last.seed)
      }
      uploads.append(upload)
    }
    kills = Array(repeating: .relay, count: settings.relayKills)
    kills += Array(repeating: .client, count: settings.clientKills)
    random.shuffle(&kills)
  }

  var bytes: Int { uploads.reduce(0) { $0 + $1.bytes } }

  /// Whether another kill is due.
  func isKillDue(after count: Int, acknowledged: Int) -> Bool {
    count < kills.count && acknowledged * (kills.count + 1) >= (count + 1) * uploads.count
  }

  /// Small files are as frequent as large ones: the logarithm of the size is uniform.
  private static func size(_ unit: Double, largest: Int) -> Int {
    let span = log(Double(largest) / Double(smallestBytes))
    return min(largest, Int(Double(smallestBytes) * exp(unit * span)))
  }
}

extension FilePlan.Upload {
  private static let blockBytes = 65_536

  /// The id of its entry.
  var entry: String { "upload-\(number)" }

  /// A block of random bytes, repeated with the number of the block in front: no two parts of a file are equal.
  var content: [UInt8] {
    var random = SplitMix64(seed: seed)
    var block: [UInt8] = []
    while block.count < Self.blockBytes {
      unsafe withUnsafeBytes(of: random.next().littleEndian) { unsafe block.append(contentsOf: $0) }
    }
    var content: [UInt8] = []
    content.reserveCapacity(bytes + Self.blockBytes)
    var count: UInt64 = 0
    while content.count < bytes {
      unsafe withUnsafeBytes(of: count.littleEndian) {
        unsafe block.replaceSubrange(..<8, with: $0)
      }
      content += block
      count += 1
    }
    content.removeLast(content.count - bytes)
    return content
  }

  var hash: String { SHA256Digest.hex(SHA256Digest.of(content)) }
}
