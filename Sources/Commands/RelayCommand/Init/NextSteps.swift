internal import RelayConfiguration

/// What `relay init` says when it has written a configuration: which commands to run.
struct NextSteps {
  private let initial: InitialConfiguration
  private let config: String

  init(_ initial: InitialConfiguration, config: String) {
    self.initial = initial
    self.config = config
  }

  var text: String {
    let permissions = initial.hasSecrets ? ", readable only by you: it has a secret" : ""
    return """
      \(config) is written\(permissions). Next:

      \(preparation)  relay check-config --config \(config)
        relay serve --config \(config)

      \(entry)\(proxy)
      """
  }

  private var preparation: String {
    let callback =
      switch initial.entry {
      case .github: "github"
      case .openid: "oidc"
      case .everyone, .invited, .tokens: ""
      }
    return callback.isEmpty
      ? ""
      : "  Register this callback address there: \(initial.publicURL)/sign-in/\(callback)/callback\n"
  }

  private var entry: String {
    switch initial.entry {
    case .everyone:
      "Then open \(initial.publicURL)/?user=ada; any other name will do as well.\n"
    case .invited:
      """
      The first start prints a link that makes its opener the first operator. For others:

        relay invite --config \(config)

      """
    case .github, .openid:
      """
      The first start prints a link that makes its opener the first operator. All others sign in at \
      \(initial.publicURL).

      """
    case .tokens:
      """
      Your service signs tokens with auth.secret. One to try it with:

        relay token --user ada --config \(config)

      """
    }
  }

  /// The lines of docs/proxies.md for a host of its own.
  private var proxy: String {
    guard initial.place == .proxy else { return "" }
    return """

      For Caddy; docs/proxies.md has nginx and haproxy:

        \(initial.host) {
          reverse_proxy \(initial.listen) {
            header_up -Forwarded
          }
        }

      """
  }
}
