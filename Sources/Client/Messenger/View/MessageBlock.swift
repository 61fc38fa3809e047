/// The laid-out lines of one message and of what is drawn above it, at the width of the pane.
struct MessageBlock {
  /// The number of lines that depend on the previous message: dates, names, gaps. They come and go
  /// with it, so positions in the block are counted from the line after them.
  var above = 0
  var lines: [Line] = []
}
