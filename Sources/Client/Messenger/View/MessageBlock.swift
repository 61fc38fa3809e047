/// The lines of one message with what stands above it, as wide as the pane.
struct MessageBlock {
  /// How many of the lines depend on the message before: dates, names, gaps. They come and go with
  /// it, so that places in the block are counted from behind them.
  var above = 0
  var lines: [Line] = []
}
