import Client

extension RelayRequest.Failure {
  /// The failure, and which option of wschat may mend it.
  var advised: String {
    if case .connection(let error) = self { return "\(error)\(LineChat.advice(about: error))" }
    return "\(self)"
  }
}
