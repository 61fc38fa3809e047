import Client
import Glibc
import Messenger
import Platform
import Synchronization
import Wire

/// The session of this device that a login has made, under the name of a profile.
struct Login: Equatable, Sendable {
  var profile: String
  var url: RelayURL
  var grant: DeviceGrant
  /// A PEM file of authorities that replaces the system's.
  var ca: String?
}

/// The logins of this user, each in a file of its own that only its owner can read: the file has the
/// token.
struct Logins {
  /// More than any login has.
  private static let limitBytes = 16 << 10

  private let folder: String

  /// - Parameter stateFolder: See `Archive.path`.
  init(stateFolder: String) { folder = "\(stateFolder)/wschat/logins" }

  /// The logins in `$XDG_STATE_HOME`; `nil` if there is no such folder.
  static var own: Logins? {
    Environment.folder("XDG_STATE_HOME", inHome: ".local/state").map(Logins.init(stateFolder:))
  }

  private func path(_ profile: String) -> String { "\(folder)/\(profile).json" }

  /// Returns the login of a profile; `nil` if there is none.
  /// - Parameter warn: Called with a sentence if the file was not as private as it is now.
  func login(
    of profile: String, warn: (String) -> Void = { _ in }
  ) throws(SystemError) -> Login? {
    let file: (bytes: [UInt8], wasOpen: Bool)
    do throws(SystemError) {
      file = try PrivateFiles.readSecret(path(profile), limitBytes: Self.limitBytes)
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
    if file.wasOpen {
      warn(
        "other users of this machine could read \(path(profile)) until now: if they may have, end "
          + "its session with wschat logout, and sign in again")
    }
    guard let json = JSONNode(file.bytes), let url = json["url"]?.string.flatMap(Self.url),
      let user = json["user"]?.string, let session = json["session"]?.string,
      let token = json["token"]?.string,
      let grant = DeviceGrant(user: user, session: session, token: token)
    else { throw SystemError("read \(path(profile))", code: EBADMSG) }
    return Login(profile: profile, url: url, grant: grant, ca: json["ca"]?.string)
  }

  /// Returns the login of a profile; `nil` if there is none, or if its file cannot be used.
  /// - Parameter tell: Called with a sentence about such a file, once while the program runs.
  func usable(_ profile: String, tell: (String) -> Void) -> Login? {
    attempt(
      { if Self.told.withLock({ $0.insert(path(profile)).inserted }) { tell($0) } },
      { unusable(profile, $0) },
      { () throws(SystemError) in try login(of: profile, warn: tell) }) ?? nil
  }

  /// The files that the user was told about: several parts of the program read each.
  private static let told = Mutex<Set<String>>([])

  /// Says why the login of a profile cannot be used, and what to do.
  func unusable(_ profile: String, _ error: SystemError) -> String {
    let reason = error.code == EBADMSG ? "\(path(profile)) is damaged" : "\(error)"
    return
      "the login of \(profile) cannot be used: \(reason); remove the file, or sign in again with "
      + "wschat login URL --profile \(profile)"
  }

  private static func url(_ text: String) -> RelayURL? { try? RelayURL(text) }

  /// The names of the profiles that have a login, the latest first.
  var profiles: [String] {
    var found: [(profile: String, time: timespec)] = []
    for name in PrivateFiles.names(in: folder) ?? [] where name.hasSuffix(".json") {
      let profile = String(name.dropLast(".json".count))
      var status = stat()
      guard Settings.Profile.isName(profile), unsafe lstat(path(profile), &status) == 0 else {
        continue
      }
      found.append((profile, status.st_mtim))
    }
    found.sort { ($0.time.tv_sec, $0.time.tv_nsec) > ($1.time.tv_sec, $1.time.tv_nsec) }
    return found.map(\.profile)
  }

  /// Prepares what `keep` needs.
  func createFolder() throws(SystemError) { try PrivateFiles.createSecretFolder(folder) }

  /// Stores a login in place of the earlier one of its profile, atomically.
  func keep(_ login: Login) throws(SystemError) {
    try createFolder()
    var json = Array("{\"url\":".utf8)
    json.append(jsonString: "\(login.url)")
    let members = [
      ("user", login.grant.user), ("session", login.grant.session), ("token", login.grant.token),
      ("ca", login.ca),
    ]
    for case (let name, let value?) in members {
      json += Array(",\"\(name)\":".utf8)
      json.append(jsonString: value)
    }
    try WholeFile.replace(path(login.profile), with: json + Array("}\n".utf8))
  }

  /// Removes the login of a profile, if there is one.
  func remove(_ profile: String) throws(SystemError) {
    guard unsafe unlink(path(profile)) == 0 || errno == ENOENT else {
      throw SystemError.last("remove \(path(profile))")
    }
  }
}
