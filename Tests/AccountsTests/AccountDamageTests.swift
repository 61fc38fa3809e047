import Accounts
import AccountStores
import TestSupport
import Testing

@Suite struct `Damage of the file of accounts` {
  @Test func `a flipped bit is found, or changes no account`() throws {
    let folder = try TemporaryFolder()
    let accounts = (1...20).map { Account(user: "user-\($0)", name: "Name \($0)", createdAt: 1) }
    do {
      let store = try SQLAccountStore.sqlite(path: folder["accounts.db"])
      for account in accounts { try store.put(account) }
    }
    #expect(SQLAccountStore.damage(ofFileAt: folder["accounts.db"], isInUse: false) == nil)
    let bytes = try readBytes(folder["accounts.db"]).count
    var found = 0
    // A step that visits all parts of a page.
    for place in stride(from: 5, to: bytes, by: 997) {
      try run("cp", folder["accounts.db"], folder["flipped.db"])
      try folder.flip(UInt8(place % 8), ofByte: place, in: "flipped.db")
      let damage = SQLAccountStore.damage(ofFileAt: folder["flipped.db"], isInUse: false)
      if damage != nil { found += 1 }
      let store = try? SQLAccountStore.sqlite(path: folder["flipped.db"])
      for account in accounts {
        guard let stored = try? store?.account(account.user) else {
          #expect(damage != nil, "byte \(place)")
          continue
        }
        #expect(stored == account, "byte \(place)")
      }
      try run("rm", folder["flipped.db"])
    }
    #expect(found > bytes / 997 / 2)
  }
}
