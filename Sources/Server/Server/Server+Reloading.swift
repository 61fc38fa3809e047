import Gateway
import Logging
import Platform
import Relay
public import RelayConfiguration

/// Changes of the configuration while the server runs.
extension Server {
  /// Applies the settings that can change at runtime. Certificate: open connections keep the old
  /// one; if the new one cannot be used, that is logged and the old one stays. The keys and conditions of
  /// tokens: the same, and connections end whose token is no longer accepted. Banned users: their
  /// connections end. Operators. The rules of retention. Blocks while files are read. Thread-safe.
  /// - Parameters:
  ///   - changed: the keys whose values have changed since the last time.
  ///   - changedSinceStart: those that differ from what the relay was started with.
  public func reload(
    _ configuration: Configuration, changed: [String], changedSinceStart: [String]
  ) {
    let new = configuration.auth
    names.setConfigured(new)
    let banned = Set(new.banned)
    authenticator.ban(banned)
    authenticator.setOperators(Set(new.operators))
    for mailbox in mailboxes { mailbox.post(.ban(banned)) }
    if changed.contains(where: Self.retentionKeys.contains) {
      Self.warnOfHiddenRules(configuration, logger)
      log.apply(configuration.retained)
    }
    reloadTokens(configuration)
    reloadCertificate(configuration)
    report(changed, changedSinceStart)
  }

  /// The keys whose new values count at once.
  private static let reloadedKeys: Set<String> = [
    "log_level", "log_format", "tls.certificate", "tls.key", "auth.secret", "auth.public_key",
    "auth.keys", "auth.jwks", "auth.issuer", "auth.audience", "auth.user_claim",
    "auth.not_before", "auth.banned", "auth.operators",
    "retention", "log.keep_entries_per_room",
  ]
  private static let retentionKeys: Set<String> = ["retention", "log.keep_entries_per_room"]

  private func report(_ changed: [String], _ changedSinceStart: [String]) {
    logger.info(
      "The configuration was reloaded.",
      metadata: ["changed": "\(changed.joined(separator: " "))"])
    let others = changedSinceStart.filter { !Self.reloadedKeys.contains($0) }
    guard !others.isEmpty else { return }
    logger.warning(
      "Changes of some keys are not in effect. Restart the relay.",
      metadata: ["keys": "\(others.joined(separator: " "))"])
  }

  private func reloadTokens(_ configuration: Configuration) {
    guard configuration.auth.mode == authMode else {
      logger.error("auth.mode cannot change at runtime. Restart the relay.")
      return
    }
    do throws(ServerError) {
      try authority?.reload(configuration)
    } catch {
      logger.error("The keys and conditions of tokens were not replaced. \(error)")
    }
  }

  private func reloadCertificate(_ configuration: Configuration) {
    guard let credentials, !configuration.tls.isOff else {
      if credentials != nil || !configuration.tls.isOff {
        logger.error("TLS cannot be switched on or off at runtime. Restart the relay.")
      }
      return
    }
    do throws(ServerError) {
      try credentials.replace(by: configuration.tls)
      logger.info(
        "New connections use the certificate that was read.",
        metadata: ["certificate": "\(configuration.tls.certificate)"])
    } catch {
      logger.error("The certificate was not replaced. \(error)")
    }
  }
}
