import Messenger
import Terminal

/// What the chat has other programs do, or the terminal besides its grid: the clipboard, links,
/// notifications and sounds.
struct DesktopDriver {
  let terminal: TerminalDriver
  let host: ChatHost

  func copy(_ text: String, count: Int) {
    guard let bytes = ControlString.copy(text) else {
      let what = count == 1 ? "The text is" : "The \(count) messages are"
      return host.post(
        .failed(
          "\(what) too long for the terminal's clipboard, which takes "
            + "\(ControlString.copyLimitBytes / 4 * 3 / 1000) kB. Nothing was copied."))
    }
    terminal.show(bytes)
    // tmux does not say whether it takes what a program copies; by default it does not.
    let condition =
      Environment["TMUX"] == nil
      ? "" : " In tmux this needs `set -g set-clipboard on`; see wschat(1)."
    host.post(.done((count == 1 ? "Copied." : "Copied \(count) messages.") + condition))
  }

  func open(_ url: String) {
    guard Launcher.has("xdg-open") else {
      return host.post(.failed("xdg-open is not installed; copy the link instead: \(url)"))
    }
    if let error = Launcher.open(["xdg-open", url]) {
      return host.post(.failed("The link was not opened: \(error). Copy it instead: \(url)"))
    }
    host.post(.done("Opened \(url)"))
  }

  func notify(_ title: String, _ body: String) {
    switch host.chat.settings.notify {
    case .off: break
    case .command(let command): Launcher.run(shell: command, arguments: [title, body])
    case .auto:
      if let form = terminal.capabilities.notificationForm {
        terminal.show(ControlString.notification(title: title, body: body, as: form))
      } else {
        Launcher.run([
          "notify-send", "--app-name=wschat", "--", title, ControlString.notificationMarkup(body),
        ])
        // On a machine without a desktop the bell, which tmux and others show, is all there is.
        if !Launcher.hasDesktop, !host.chat.settings.bell { ringBell() }
      }
    case .osc9: terminal.show(ControlString.notification(title: title, body: body, as: .osc9))
    case .osc99: terminal.show(ControlString.notification(title: title, body: body, as: .osc99))
    case .osc777: terminal.show(ControlString.notification(title: title, body: body, as: .osc777))
    }
  }

  func ringBell() { terminal.show(ControlString.bell) }

  func play(_ sound: Effect.Sound) {
    let settings = host.chat.settings
    if let command = sound == .sent ? settings.soundSent : settings.soundReceived {
      Launcher.run(shell: command)
    }
  }
}
