internal import Wire

/// What a direct room has besides its entries and marks: which entries one of its users is not shown, and
/// whether it is a request to one of them.
public struct DirectState: Equatable, Sendable {
  /// Entries of a user who was blocked when they were sent. The other user is never shown them.
  public struct HiddenRun: Equatable, Sendable {
    public var sender: String
    public var first: Int64
    /// `nil` while the block lasts.
    public var last: Int64?

    public init(sender: String, first: Int64, last: Int64? = nil) {
      self.sender = sender
      self.first = first
      self.last = last
    }

    public func contains(_ seq: Int64) -> Bool { seq >= first && seq <= last ?? .max }
  }

  /// The first user to write is not known to the other one.
  public struct Request: Equatable, Sendable {
    /// The user who has not accepted it.
    public var user: String
    /// The service by which the first user has signed in, and by which the other one may know them; `""` =
    /// none.
    public var issuer: String

    public init(user: String, issuer: String) {
      self.user = user
      self.issuer = issuer
    }
  }

  /// How far a user had got when the two were separated: the other one is told no more.
  public struct Standstill: Equatable, Sendable {
    public var user: String
    public var read: Int64
    public var received: Int64

    public init(user: String, read: Int64, received: Int64) {
      self.user = user
      self.read = read
      self.received = received
    }
  }

  /// In the order of `first`, for each sender.
  public var hidden: [HiddenRun] = []
  public var request: Request?
  /// Of both users, while they are separated, in the order of their names; empty if the room has been made
  /// since.
  public var standstills: [Standstill] = []

  public init(
    hidden: [HiddenRun] = [], request: Request? = nil, standstills: [Standstill] = []
  ) {
    self.hidden = hidden
    self.request = request
    self.standstills = standstills
  }

  public var isEmpty: Bool { hidden.isEmpty && request == nil && standstills.isEmpty }

  /// Whether an entry of `sender` is hidden from the other user.
  func hides(_ seq: Int64, of sender: String) -> Bool {
    hidden.contains { $0.sender == sender && $0.contains(seq) }
  }

  /// Whether `user` is not shown an entry.
  func hides(_ entry: Entry, from user: String) -> Bool {
    entry.from != user && hides(entry.seq, of: entry.from)
  }

  /// Returns the same for a room that ends with `head`.
  func limited(to head: Int64) -> DirectState {
    var state = self
    state.hidden = hidden.compactMap { run in
      var run = run
      run.first = min(run.first, head + 1)
      run.last = run.last.map { min($0, head) }
      return run.last.map { $0 < run.first } == true ? nil : run
    }
    state.standstills = standstills.map {
      Standstill(user: $0.user, read: min($0.read, head), received: min($0.received, head))
    }
    return state
  }

  /// From here on the entries of a user are hidden.
  mutating func beginHiding(_ sender: String, after head: Int64) {
    hidden.append(HiddenRun(sender: sender, first: head + 1))
  }

  /// From here on the entries of a user are shown again.
  mutating func endHiding(_ sender: String, after head: Int64) {
    guard let run = hidden.lastIndex(where: { $0.sender == sender && $0.last == nil }) else {
      return
    }
    if hidden[run].first > head { hidden.remove(at: run) } else { hidden[run].last = head }
  }
}
