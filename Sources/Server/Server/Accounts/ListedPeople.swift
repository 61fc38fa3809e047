import Accounts
import Gateway
import Platform
import Relay
import Synchronization

/// The directory as the loops have it: its people under the names of their accounts. Thread-safe.
final class ListedPeople: Sendable {
  private struct State {
    var accounts: DirectoryAccounts
    /// The last publication of the directory.
    var update: DirectoryUpdate?
    var mailboxes: [Mailbox<LoopMessage>] = []
  }

  private let state: Mutex<State>

  /// - Parameter issuer: as in `DirectoryAccounts`.
  init(issuer: String?) {
    state = Mutex(State(accounts: DirectoryAccounts(issuer: issuer)))
  }

  /// Whether the directory has a person of this name.
  func contains(_ user: String) -> Bool { state.withLock { $0.accounts.contains(user) } }

  /// Returns the directory's name for a person of a provider.
  func name(of person: ProviderBinding) -> String? {
    state.withLock { $0.accounts.name(of: person) }
  }

  /// Sends a publication of the directory to the loops.
  func publish(_ update: DirectoryUpdate, to mailboxes: [Mailbox<LoopMessage>]) {
    state.withLock { state in
      state.accounts.set(update.people)
      state.update = update
      state.mailboxes = mailboxes
      Self.post(state)
    }
  }

  /// Takes an account that is new or has changed. The list is sent again where the person has another name in
  /// the directory, which is rare.
  func record(_ account: Account) {
    state.withLock { state in
      if state.accounts.record(account) { Self.post(state) }
    }
  }

  /// With the lock held, so that no loop gets an older list after a newer one.
  private static func post(_ state: borrowing State) {
    guard var update = state.update else { return }
    update.people = state.accounts.listed
    for mailbox in state.mailboxes { mailbox.post(.people(update)) }
  }
}
