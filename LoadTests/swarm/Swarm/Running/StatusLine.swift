internal import Glibc
internal import Platform
internal import Terminal

/// A line on a terminal that shows the progress of a run; log lines scroll above it.
///
/// Between two pieces of output the terminal is in its normal state, so that nothing must be restored
/// if the process dies. A run never waits for the terminal: what it does not accept at once is
/// dropped, since the report contains it.
public final class StatusLine {
  /// Begins the line, instead of the scenario's name.
  public var caption: String?
  private let descriptor: Int32
  private var shown = ""

  /// Returns `nil` if the descriptor is not a terminal that can be drawn on.
  ///
  /// - Parameter descriptor: Reopened, because `O_NONBLOCK` would otherwise affect other users of
  ///   this terminal, such as the shell.
  public init?(on descriptor: Int32) {
    let kind = unsafe getenv("TERM").map { unsafe String(cString: $0) } ?? ""
    guard isatty(descriptor) == 1, !["", "dumb"].contains(kind) else { return nil }
    self.descriptor = unsafe open(
      "/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard self.descriptor >= 0 else { return nil }
  }

  deinit {
    finish()
    close(descriptor)
  }

  /// Writes lines above the status.
  public func log(_ text: String) {
    put(text.split(separator: "\n").map { TerminalText.line(String($0)) + "\n" }.joined())
  }

  /// Shows the last second of a run.
  func show(_ series: Series, of scenario: String, lost: Int, broken: Int) {
    guard let second = series.seconds.last else { return }
    let end = second.start + second.length
    let phase = series.phases.last { $0.start < end }
    func rate(_ count: Int) -> String { Decimal.prefixed(second.rate(count).rounded()) }
    var parts = [
      "\(caption ?? scenario): \(phase?.name ?? "")",
      "\(Int(end)) of \(Int(series.phases.last?.end ?? 0)) s", "\(second.clients) clients",
      "\(rate(second.sends)) sends/s", "\(rate(second.deliveries)) deliveries/s",
    ]
    if let p99 = second.ackP99 { parts.append("ack p99 \(Decimal.text(p99)) ms") }
    if let p99 = second.deliverP99 { parts.append("deliver p99 \(Decimal.text(p99)) ms") }
    if lost > 0 { parts.append("\(lost) connections lost") }
    if broken > 0 { parts.append("\(broken) promises broken") }
    shown = TerminalText.line(parts.joined(separator: ", "))
    put("")
  }

  /// Erases the line; call it before any other output.
  public func finish() {
    guard !shown.isEmpty else { return }
    shown = ""
    // The wrapping may be off still, if the terminal has accepted a part of the last output only.
    StandardError.write("\r\u{1B}[K\u{1B}[?7h")
  }

  private func put(_ logged: String) {
    // A shell has the terminal, if the run is a job in the background.
    let group = tcgetpgrp(descriptor)
    let isInForeground = group < 0 || group == getpgrp()
    let status = isInForeground && !shown.isEmpty ? "\u{1B}[?7l\(shown)\u{1B}[?7h" : ""
    guard !(logged + status).isEmpty else { return }
    let bytes = Array("\(isInForeground ? "\r\u{1B}[K" : "")\(logged)\(status)".utf8)
    _ = unsafe bytes.withUnsafeBufferPointer {
      unsafe write(descriptor, $0.baseAddress, $0.count)
    }
  }
}
