import TestSupport
import Testing

extension `End to end` {
  /// People with roles, a bot, a script and a spammer, on the page, in a terminal, over WebSocket and HTTP:
  /// `community.py` plays them.
  @Suite struct `A community` {
    @Test func `gets rid of a spammer in one evening, and the audit tells what operators did`()
      throws
    {
      try `The web page`().play("evening", of: "community.py")
    }
  }
}
