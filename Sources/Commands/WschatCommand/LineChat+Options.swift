extension LineChat {
  /// The room to chat in.
  enum Place {
    case named(String)
    /// A direct room, whose name depends on the user's own name, known from `welcome`.
    case direct(String)
  }

  struct Options {
    var room: Place
    var printsJSON: Bool
    var historyCount: Int
    var follows: Bool
    var timeoutMilliseconds: Int
  }
}
