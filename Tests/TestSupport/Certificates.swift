/// The certificates and keys that one test needs, made by `Tests/certificates` with the openssl
/// command, and removed with the object.
public final class Certificates: Sendable {
  public let folder: TemporaryFolder

  public init() throws {
    folder = try TemporaryFolder()
    try run(Project["Tests/certificates"], folder.path)
  }

  /// Returns the path of a file, by its name in `Tests/certificates`: `ca.pem`, `server.key`.
  public subscript(name: String) -> String { folder[name] }

  /// The certificate of the authority that has signed the others.
  public var authority: String { folder["ca.pem"] }

  /// A server's certificate and its key.
  public var pair: [String] { [folder["server.pem"], folder["server.key"]] }
}
