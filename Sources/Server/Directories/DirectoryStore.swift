internal import Glibc
internal import Platform
internal import Synchronization
internal import Wire

/// Persists a directory's state in two files, readable by their owner only, in an existing folder.
/// The first write error is reported; a file that cannot be read counts as missing.
final class DirectoryStore: Sendable {
  private let listPath: String
  private let tokenPath: String
  private let report: @Sendable (String) -> Void
  private let hasReported = Atomic(false)
  /// Larger than any list of `max` people.
  private static let limitBytes = 1 << 30

  /// - Parameter report: receives the write error as a sentence.
  init(folder: String, report: @escaping @Sendable (String) -> Void) {
    listPath = "\(folder)/directory.json"
    tokenPath = "\(folder)/directory-token.json"
    self.report = report
  }

  func readState(of identity: String) -> DirectoryState? {
    guard let bytes = read(listPath) else { return nil }
    guard let state = DirectoryState(bytes) else {
      report("\(listPath) is damaged or from another version; fetching the list of people again.")
      return nil
    }
    return state.identity == identity ? state : nil
  }

  func write(_ state: DirectoryState) { write(state.json, to: listPath) }

  /// - Parameter owner: the credentials that the token was issued for; a token of others is
  ///   ignored.
  func readToken(for owner: String) -> String? {
    guard let json = read(tokenPath).flatMap({ JSONNode($0) }), json["owner"]?.string == owner,
      let token = json["token"]?.string, TokenSource.isToken(token)
    else { return nil }
    return token
  }

  func write(token: String, for owner: String) {
    var json = Array("{\"owner\":".utf8)
    json.append(jsonString: owner)
    json += Array(",\"token\":".utf8)
    json.append(jsonString: token)
    json += Array("}\n".utf8)
    write(json, to: tokenPath)
  }

  func removeToken() { _ = unsafe unlink(tokenPath) }

  private func read(_ path: String) -> [UInt8]? {
    do throws(SystemError) {
      return try WholeFile.read(path, limitBytes: Self.limitBytes, waits: false)
    } catch {
      if error.code != ENOENT { report("\(path) cannot be read: \(error).") }
      return nil
    }
  }

  private func write(_ bytes: [UInt8], to path: String) {
    do throws(SystemError) {
      try WholeFile.replace(path, with: bytes)
    } catch {
      guard !hasReported.exchange(true, ordering: .relaxed) else { return }
      report("\(path) cannot be written: \(error). The list of people will be lost at a restart.")
    }
  }
}
