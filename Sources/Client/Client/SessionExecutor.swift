package import Platform
package import WebSocket
package import Wire

/// The executor of a `ClientSession`: passes inputs to the session, and executes the actions that
/// result, in order, on the connection and with the clock of the class that conforms.
package protocol SessionExecutor: AnyObject {
  var execution: SessionExecution { get }
  /// The current time, of the same clock as every other time of the session.
  var now: Instant { get }

  /// Begins to connect; passes the outcome to `perform`.
  func openConnection()
  func transmit(_ message: ClientMessage)
  func transmitPing()
  /// Sends a close frame, and waits for the relay's.
  func closeConnection()
  /// Drops the connection or the attempt at once; a close frame with this code may be tried.
  func abandonConnection(_ code: CloseCode)
  /// Reports to the user. May cause further inputs, whose actions are executed afterwards.
  func report(_ event: ClientEvent)
  /// Ensures that `tick` is called at this time or earlier; `nil` if nothing is awaited.
  func follow(_ deadline: Instant?)
  /// Releases what the executor holds, after the session has ended.
  func retire()
}

/// A session, and the actions that it has requested. Only the executor changes it.
package final class SessionExecution {
  package fileprivate(set) var session: ClientSession
  fileprivate var actions: [ClientSession.Action] = []
  fileprivate var isActing = false

  package init(_ session: ClientSession) { self.session = session }
}

extension SessionExecutor {
  /// Passes an input to the session and executes the resulting actions.
  package func perform(
    _ input: (inout ClientSession, Instant, inout [ClientSession.Action]) -> Void
  ) {
    let execution = execution
    input(&execution.session, now, &execution.actions)
    act(execution)
  }

  /// Passes a message of the relay to the session; `observe` learns whether it is news, and what it
  /// causes is done after what the session has requested.
  /// - Parameter message: `nil` for one of an unknown type, by which the protocol is extended.
  package func receive(_ message: ServerMessage?, _ observe: (_ isNews: Bool) -> Void) {
    let execution = execution
    var isNews = true
    if let message {
      isNews = execution.session.receive(message, at: now, &execution.actions)
    }
    execution.isActing = true
    observe(isNews)
    execution.isActing = false
    act(execution)
  }

  /// Records that bytes of any kind have arrived.
  package func hear() { execution.session.heard(at: now) }

  /// See `ClientSession.advance`.
  package func advance(_ room: String, from seq: Int64, count: Int, hint: inout Int) -> Bool {
    execution.session.advance(room, from: seq, count: count, hint: &hint)
  }

  /// Does what is due.
  package func tick() { perform { $0.tick(at: $1, &$2) } }

  /// Sends a text, and returns its id. The only place that knows how a text becomes the body of an
  /// entry.
  package func sendText(_ text: String, to room: String) -> String {
    let send = ClientMessage.Send(room: room, id: "", text: text)
    var id = ""
    perform { id = $0.send(send.kind, send.body, to: room, at: $1, &$2) }
    return id
  }

  /// Holds lines back while output leaves too slowly.
  package func setCongested(_ isCongested: Bool) {
    let wasCongested = execution.session.isCongested
    execution.session.isCongested = isCongested
    if wasCongested, !isCongested { perform { $0.pump(at: $1, &$2) } }
  }

  private func act(_ execution: SessionExecution) {
    // If a report called this, the outer call executes the added actions.
    if !execution.isActing {
      execution.isActing = true
      var next = 0
      while next < execution.actions.count {
        let action = execution.actions[next]
        next += 1
        execute(action)
      }
      // Thousands of executors are idle at any time: none of them keeps a buffer.
      execution.actions = []
      execution.isActing = false
      if execution.session.hasEnded { retire() }
    }
    follow(execution.session.deadline)
  }

  private func execute(_ action: ClientSession.Action) {
    switch action {
    case .connect: openConnection()
    case .transmit(let message): transmit(message)
    case .ping: transmitPing()
    case .close: closeConnection()
    case .abandon(let code): abandonConnection(code)
    case .event(let event): report(event)
    }
  }
}
