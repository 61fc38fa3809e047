internal import Wire

/// A key for tokens with its name, if it has one.
struct NamedTokenKey: Sendable {
  /// What the header of a token calls it: `kid` (RFC 7515 §4.1.4).
  var name: String?
  var key: TokenKey
}

/// The keys that verify tokens, and how one is chosen: by the `kid` of a token's header.
struct KeySet: Sendable {
  /// Keys without a name beyond these are left out: a token without `kid` is verified by each in turn,
  /// and verifying a forgery must not cost arbitrarily much.
  static let unnamedLimit = 8

  /// Different algorithms may share a name (RFC 7517 §4.5).
  private var named: [String: [TokenKey]] = [:]
  private var unnamed: [TokenKey] = []
  /// What was left out and why, as sentences for the operator.
  private(set) var notes: [String] = []

  /// - Parameter keys: of two with the same name and algorithm the first counts, so that no fetched key
  ///   replaces a configured one.
  init(_ keys: [NamedTokenKey]) {
    for element in keys { add(element) }
  }

  private mutating func add(_ element: NamedTokenKey) {
    let key = element.key
    guard let name = element.name else {
      if unnamed.contains(where: { $0.thumbprint == key.thumbprint }) { return }
      guard unnamed.count < Self.unnamedLimit else {
        let note = "More than \(Self.unnamedLimit) keys have no kid; the others are not used."
        if notes.last != note { notes.append(note) }
        return
      }
      unnamed.append(key)
      return
    }
    if let other = named[name]?.first(where: { $0.algorithm == key.algorithm }) {
      if other.thumbprint != key.thumbprint {
        notes.append(
          "Two different \(key.algorithm.rawValue) keys are called \(DecodedToken.shown(name)); the"
            + " first is used.")
      }
      return
    }
    named[name, default: []].append(key)
  }

  private var all: [TokenKey] { named.values.flatMap(\.self) + unnamed }

  var isEmpty: Bool { named.isEmpty && unnamed.isEmpty }

  /// The thumbprints of all keys.
  var thumbprints: Set<[UInt8]> { Set(all.map(\.thumbprint)) }

  /// The keys that may have signed a token.
  struct Choice {
    var keys: [TokenKey]
    /// Whether the token names its key. If not, it may be signed by one that is not known yet.
    var isByName: Bool
  }

  /// Chooses the keys for the header of a token. With a `kid`, that is the key of this name; a set of a
  /// single key without a name is for all tokens. Without a `kid`, it is the only key, or those without
  /// a name.
  ///
  /// Keys in the header itself (`jwk`, `jku`, `x5u`, `x5c`) are never used: whoever makes the token
  /// chooses them.
  func choose(for header: JSONNode) throws(DecodedToken.Refusal) -> Choice {
    let isSingle = named.count + unnamed.count == 1
    var choice = Choice(keys: unnamed, isByName: false)
    if let kid = header.member("kid") {
      guard let name = kid.string else {
        throw DecodedToken.Refusal(text: "The token's kid must be a string.")
      }
      if let keys = named[name] {
        choice = Choice(keys: keys, isByName: true)
      } else if !isSingle || unnamed.isEmpty {
        throw DecodedToken.Refusal(
          text: "The token names a key that this relay does not know: its kid is "
            + "\(DecodedToken.shown(name)).", isKeyUnknown: true)
      }
    } else if isSingle {
      choice.keys = all
    } else if unnamed.isEmpty {
      throw DecodedToken.Refusal(
        text: isEmpty
          ? "This relay has no keys to verify tokens with yet."
          : "The token's header must name its key (kid): this relay has several.",
        isKeyUnknown: isEmpty)
    }
    let algorithm = header["alg"]?.string
    let fitting = choice.keys.filter { $0.algorithm.rawValue == algorithm }
    guard !fitting.isEmpty else {
      let names = Set(choice.keys.map(\.algorithm.rawValue)).sorted().joined(separator: " or ")
      throw DecodedToken.Refusal(
        text: "The token is not signed with \(names), which this relay's key is for: its alg is "
          + "\(DecodedToken.shown(header["alg"])).",
        isKeyUnknown: !choice.isByName && algorithm.flatMap(TokenKey.Algorithm.init) != nil)
    }
    choice.keys = fitting
    return choice
  }
}
