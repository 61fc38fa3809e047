import Testing

@testable import EventLoop

@Suite struct `The table of registrations` {
  @Test func `a slot is small, since there is one for each idle connection`() {
    #expect(MemoryLayout<RegistrationTable.Slot>.stride <= 16)
  }

  @Test func `a registration that has ended is not found when its slot is used again`() {
    var table = RegistrationTable()
    let first = table.insert(3, interest: .readable, token: 1)
    table.remove(first)
    let second = table.insert(4, interest: .readable, token: 2)
    #expect(second.index == first.index)
    #expect(table[first] == nil)
    #expect(table[second]?.token == 2)
    #expect(Registration(key: second.key) == second)
  }
}
