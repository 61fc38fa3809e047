import Directories
import Server
internal import Wire

/// The accounts of the relay that runs in a data folder, if one does: it records what operators change.
struct RelayAccounts {
  let folder: String

  /// Sets a flag of an account.
  /// - Returns: whether a relay has done it.
  func change(_ user: String, _ flag: String, _ isOn: Bool) throws -> Bool {
    try ask("PATCH", user, content: "{\"\(flag)\":\(isOn)}") != nil
  }

  /// Returns how many sessions there were; `nil` if no relay runs.
  func endSessions(of user: String) throws -> Int? {
    try ask("DELETE", user, "/sessions").map { Int(JSONNode($0)?["ended"]?.integer ?? 0) }
  }

  /// - Returns: whether a relay has done it.
  func endSession(_ session: String, of user: String) throws -> Bool {
    try ask("DELETE", user, "/sessions/\(WebAddress.escaped(session))") != nil
  }

  /// - Returns: the content of the answer; `nil` if no relay with accounts runs.
  private func ask(
    _ method: String, _ user: String, _ path: String = "", content: String? = nil
  ) throws -> [UInt8]? {
    let answer: (status: Int, body: [UInt8])
    do throws(OperatorRequest.Failure) {
      answer = try OperatorRequest.send(
        "/v1/accounts/\(WebAddress.escaped(user))\(path)", method: method, content: content,
        socketIn: folder)
    } catch {
      return nil
    }
    if (200..<300).contains(answer.status) { return answer.body }
    let problem = JSONNode(answer.body)
    if problem?["code"]?.string == ErrorCode.unknownType.rawValue { return nil }
    throw AccountAdministration.Failure(
      description: problem?["detail"]?.string ?? "The relay answers with status \(answer.status).")
  }
}
