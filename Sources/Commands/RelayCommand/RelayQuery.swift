import ArgumentParser
import Directories
internal import RelayConfiguration
internal import Server

/// How a command asks the running relay as one of its operators: by the socket in its data folder, or by
/// `--url` with a token.
struct RelayQuery: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The relay, such as https://chat.example.org (default: the socket in its data folder).",
      valueName: "url"))
  var url: String?

  @Option(
    help: ArgumentHelp("The relay's data folder.", valueName: "dir"), completion: .directory)
  var data: String?

  @Option(
    parsing: .unconditional,
    help: "A token; other users of this machine can see it in the list of processes.")
  var token: String?

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    if let url, WebAddress(url) == nil {
      throw ValidationError("--url must begin with http:// or https://.")
    }
    guard token == nil || url != nil else { throw ValidationError("--token needs --url.") }
    guard data == nil || url == nil else {
      throw ValidationError("--data and --url cannot be combined.")
    }
  }

  /// Where the relay is asked.
  struct Target {
    fileprivate var url: String?
    fileprivate var token: String?
    fileprivate var folder: String

    /// For a person.
    var name: String { url ?? "\(folder)/\(Server.operatorSocket)" }

    /// Requests a page; the answer may have any status.
    func get(
      _ path: String, method: String? = nil
    ) throws(OperatorRequest.Failure) -> (status: Int, body: [UInt8]) {
      guard let url else {
        return try OperatorRequest.send(
          path, method: method, socketIn: folder, otherwise: ", or another relay by --url")
      }
      do throws(WebPage.Failure) {
        return try WebPage.get(
          url + path, method: method, headers: token.map { ["Authorization: Bearer \($0)"] } ?? [])
      } catch {
        throw OperatorRequest.Failure(
          description: "Cannot ask the relay at \(url): \(error). It has to run.")
      }
    }
  }

  /// Reads the configuration, unless `--url` says where the relay is.
  func target() throws -> Target {
    Target(
      url: url, token: token,
      folder: url == nil ? try options.load(.init(data: data)).dataFolder : "")
  }
}
