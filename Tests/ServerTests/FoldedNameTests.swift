import Testing
import Wire

@testable import Server

@Suite struct `Names that claims give users` {
  @Test(arguments: [
    "ada", "a", "ada.l_1-x", "6f9619ff-8b86-d011-b42d-00cf4fc964ff", "jean-baptiste",
  ])
  func `a valid name stays as it is`(value: String) {
    #expect(FoldedName.of(value) == value)
  }

  /// The digests are those of Python's hashlib.
  @Test(arguments: [
    ("Ada@Example.org", "ada-example.org-jqis4sqf"), (".", ".-zw2o4kxk"), ("..", "..-l3a7pzya"),
    ("Zoë", "zo--y2qsngcy"), ("Echo", "echo-qm26jsjm"),
    (
      "6F9619FF-8B86-D011-B42D-00CF4FC964FF",
      "6f9619ff-8b86-d011-b42d-00cf4fc964ff-5noxmpfk"
    ),
    (
      String(repeating: "a", count: 65), String(repeating: "a", count: 55) + "-mnjwdrel"
    ),
  ])
  func `any other value is folded, and ends with its hash`(value: String, name: String) {
    #expect(FoldedName.of(value) == name)
  }

  @Test func `every folded value is a valid name, whatever it contains`() {
    for scalar in (0...0x3000).compactMap(Unicode.Scalar.init) {
      for value in ["\(scalar)", "A\(scalar)", String(repeating: "\(scalar)", count: 70)] {
        #expect(UserName.isValid(FoldedName.of(value)), "\(scalar.value)")
      }
    }
    #expect(UserName.isValid(FoldedName.of(String(repeating: "👩🏽‍🚀", count: 300))))
  }

  @Test func `values that fold alike have different names`() {
    let values = [
      "ada@example.org", "Ada@example.org", "ada@Example.org", "ada example.org", "ada+example.org",
      String(repeating: "a", count: 65), String(repeating: "a", count: 66),
    ]
    #expect(Set(values.map(FoldedName.of)).count == values.count)
  }
}
