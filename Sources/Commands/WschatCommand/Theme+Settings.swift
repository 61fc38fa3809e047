import Messenger
import Terminal

extension Theme {
  /// Creates the user's theme, as far as the terminal supports it.
  init(_ settings: Settings, _ capabilities: Capabilities) {
    let isDark =
      switch settings.theme {
      case .dark: true
      case .light: false
      case .auto: capabilities.isDark ?? true
      }
    let depth: Theme.Depth =
      switch capabilities.depth {
      case .none: .none
      case .colors16: .sixteen
      case .colors256, .trueColor: .full
      }
    self = isDark ? .dark(depth) : .light(depth)
  }
}
