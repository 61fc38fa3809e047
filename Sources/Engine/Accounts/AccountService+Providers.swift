internal import Wire

/// Signing in at a provider: there and back.
extension AccountService {
  /// A sign-in for which the provider may have to be asked something.
  public struct PendingSignIn: Sendable {
    public var exchange: any ProviderExchange
    let attempt: SignInAttempt
    let call: AccountCall
    /// What the browser gets that is sent to the provider.
    var browserSecret = ""
  }

  /// Prepares a browser's way to a provider.
  public func beginSignIn(
    _ method: String, _ returnPath: String, _ call: AccountCall, now: Int64
  ) throws(AccountError) -> Result<PendingSignIn, SignInFailure> {
    guard let provider = provider(method) else {
      throw .refused(.noMethod)
    }
    if signIns.take(call.address, now: now) != nil { return .failure(.tooMany) }
    let state = SecretForm.token(environment.random(SecretForm.tokenBytes))
    let browserSecret = SecretForm.token(environment.random(SecretForm.tokenBytes))
    let attempt = SignInAttempt(
      hash: hash(state), browserHash: hash(browserSecret), method: method,
      verifier: SecretForm.token(environment.random(SecretForm.tokenBytes)),
      nonce: SecretForm.token(environment.random(SecretForm.tokenBytes)),
      returnPath: Self.ownPath(returnPath), expiresAt: now + AccountSettings.attemptSeconds * 1000)
    try store.transaction { () throws(AccountError) in
      // The oldest one makes room: who begins many and finishes none must not keep the others out.
      if try store.attemptCount() >= AccountSettings.attemptsLimit {
        try store.removeOldestAttempt()
      }
      try store.add(attempt)
    }
    return .success(
      PendingSignIn(
        exchange: provider.begin(described(attempt, state)), attempt: attempt, call: call,
        browserSecret: browserSecret))
  }

  /// Takes a browser that comes back from a provider.
  /// - Returns: the answer, if there is nothing to ask the provider for.
  public func finishSignIn(
    _ method: String, _ back: AccountCall.ProviderReturn, _ call: AccountCall, now: Int64
  ) throws(AccountError) -> Result<PendingSignIn, SignInFailure> {
    // Once: whatever comes of it, the state cannot be used again.
    guard let attempt = try store.takeAttempt(hash(back.state)), attempt.method == method,
      now < attempt.expiresAt,
      let provider = provider(method)
    else { return .failure(.expired) }
    // Otherwise an attacker could sign a victim's browser in to an account of the attacker's.
    guard let secret = call.browserSecret, hash(secret) == attempt.browserHash else {
      return .failure(.stateMismatch)
    }
    if let error = back.error {
      return .failure(error == "access_denied" ? .accessDenied : .providerRefused)
    }
    guard let code = back.code, (1...2048).contains(code.utf8.count) else {
      return .failure(.providerRefused)
    }
    return .success(
      PendingSignIn(
        exchange: provider.exchange(
          code, from: back.issuer, described(attempt, back.state), now: now),
        attempt: attempt, call: call))
  }

  /// Sends the browser to the provider, or signs in the person that the provider has named.
  public func complete(
    _ pending: PendingSignIn, _ outcome: ProviderOutcome, now: Int64
  ) throws(AccountError) -> AccountAnswer {
    switch outcome {
    case .browser(let url):
      AccountAnswer(
        status: 302, .redirect(to: url), cookie: .attempt(pending.browserSecret))
    case .person(let person): try complete(pending, as: person, now)
    // Answers to another question.
    case .confirmed, .gone: failed(.providerRefused)
    }
  }

  private func complete(
    _ pending: PendingSignIn, as person: ProviderPerson, _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    let device = DeviceName.ofBrowser(pending.call.userAgent)
    let token: String? = try store.transaction { () throws(AccountError) in
      var account: Account
      if let known = try store.account(person.binding) {
        account = known
        // The name stays: the person may have chosen another one here.
        if !account.isDisabled, account.picture != person.picture {
          account.picture = person.picture
          try store.put(account)
          try store.record(.account, of: account.user, at: now)
        }
      } else {
        // Users choose both at some providers.
        let name = [person.name, person.login].compactMap { $0 }.first {
          LabelText.isName($0, bytes: AccountSettings.nameBytes)
        }
        let user = try freeName(person)
        account = Account(
          user: user, name: name ?? user, binding: person.binding, picture: person.picture,
          createdAt: now)
        try store.put(account)
        try store.record(.account, of: account.user, at: now)
      }
      if account.isDisabled { return nil }
      if let token = person.token, let clientID = provider(pending.attempt.method)?.clientID {
        try store.put(
          ProviderToken(
            user: account.user, clientID: clientID, token: token,
            askAt: now + AccountSettings.confirmMilliseconds))
      }
      return try addSession(of: account.user, device: device, from: pending.call.address, now).token
    }
    guard let token else { return failed(.accountDisabled) }
    return AccountAnswer(
      status: 302, .redirect(to: pending.attempt.returnPath),
      cookie: .attemptEnded(token: token))
  }

  /// Sends the browser to the page, which says what has failed.
  public func failed(_ failure: SignInFailure) -> AccountAnswer {
    AccountAnswer(
      status: 302, .redirect(to: "/?sign_in_error=\(failure.rawValue)"),
      cookie: .attemptEnded(token: nil))
  }

  private func provider(_ method: String) -> (any SignInProvider)? {
    settings.providers.first { $0.method == method }
  }

  private func described(_ attempt: SignInAttempt, _ state: String) -> ProviderAttempt {
    ProviderAttempt(
      state: state, verifier: attempt.verifier,
      challenge: SecretForm.token(environment.hash(Array(attempt.verifier.utf8)).bytes),
      nonce: attempt.nonce,
      redirectURI: "\(settings.publicURL)/sign-in/\(attempt.method)/callback")
  }

  /// Returns a path of the relay, or `/` for anything that a browser would take for another host's.
  static func ownPath(_ path: String) -> String {
    let isOwn =
      path.hasPrefix("/") && !path.hasPrefix("//") && path.utf8.count <= 1024
      && path.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
    return isOwn ? path : "/"
  }

  /// Returns the name of a new account: that of the same person in the directory, or one that is not taken:
  /// the login, folded, or with the first number that is free.
  private func freeName(_ person: ProviderPerson) throws(AccountError) -> String {
    // The binding decides, not the login: another person may have it by now. Nor does it give the name of an
    // account or of a user from before there were accounts.
    if let name = environment.directoryName(person.binding), !settings.bots.contains(name),
      try store.account(name) == nil, try !environment.hasTakenPart(name)
    {
      return name
    }
    let login = LoginName.fold(person.login)
    for number in 1...Self.numbersLimit {
      let suffix = number == 1 ? "" : "-\(number)"
      let name = login.prefixOfBytes(UserName.lengthLimit - suffix.utf8.count) + suffix
      if UserName.isValid(name), try !isTaken(name) { return name }
    }
    // Many have the same login; a random end is free.
    return login.prefixOfBytes(40) + "-"
      + SecretForm.name(environment.random(SecretForm.nameBytes))
  }

  private static var numbersLimit: Int { 20 }
}

/// Logins of other services as user names. Unlike `FoldedName` in Server it may collide: a number follows then.
enum LoginName {
  /// Returns a name in small letters, with `-` for what a user name cannot have.
  static func fold(_ name: String) -> String {
    var folded: [UInt8] = []
    for byte in name.lowercased().utf8.prefix(256) {
      switch byte {
      case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "_"): folded.append(byte)
      default: if folded.last != UInt8(ascii: "-") { folded.append(UInt8(ascii: "-")) }
      }
    }
    let text = String(decoding: folded.prefix(UserName.lengthLimit), as: UTF8.self)
    return UserName.isValid(text) && text != "-" ? text : "user"
  }
}

/// Names of devices.
enum DeviceName {
  /// Returns a name for a browser that a person recognizes, from its `User-Agent`.
  static func ofBrowser(_ userAgent: String) -> String {
    func first(_ names: [(String, String)]) -> String? {
      names.first { userAgent.contains($0.0) }?.1
    }
    let browser = first([
      ("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"),
      ("Safari/", "Safari"),
    ])
    let system = first([
      ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
      ("Mac OS", "Mac"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
    ])
    return [browser ?? "Browser", system].compactMap { $0 }.joined(separator: " on ")
  }
}

extension String {
  /// Returns the longest beginning of whole characters with at most `limit` bytes.
  func prefixOfBytes(_ limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var end = utf8.index(utf8.startIndex, offsetBy: limit)
    while end > startIndex, String.Index(end, within: self) == nil { utf8.formIndex(before: &end) }
    return String(self[..<end])
  }
}
