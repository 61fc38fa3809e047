import Bots
internal import RelayConfiguration

extension BotDescription {
  /// Creates a description from a bot's configuration.
  init(_ bot: Configuration.Bot) {
    let script = bot.script.map { step -> ScriptStep in
      switch step {
      case .say(let text): .say(text)
      case .wait(let seconds): .wait(.seconds(seconds))
      }
    }
    self.init(
      user: bot.user, name: bot.name ?? bot.user,
      behaviours: bot.behaviours.compactMap { Behaviour(rawValue: $0.rawValue) },
      rooms: bot.rooms, interval: .seconds(bot.intervalSeconds),
      replyDelay: .seconds(bot.replyDelaySeconds.lowerBound)
        ... .seconds(bot.replyDelaySeconds.upperBound),
      uploadDelay: .seconds(bot.uploadDelaySeconds), typing: bot.typing, lines: bot.lines,
      script: script, command: bot.command, seed: bot.seed)
  }
}
