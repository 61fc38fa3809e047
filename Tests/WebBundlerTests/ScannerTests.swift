import Testing

@testable import WebBundler

@Suite struct `Tokens of a script` {
  private func texts(_ script: String) throws -> [String] {
    try Scanner.tokens(of: script).map(\.text)
  }

  @Test func `comments are no tokens, and what looks like one in a literal is text`() throws {
    #expect(
      try texts("a /* b */ = // c\n\"https://x\" + '/* d */' + `// e`;")
        == ["a", "=", "\"https://x\"", "+", "'/* d */'", "+", "`// e`", ";"])
  }

  @Test func `a template is a token up to each expression, however these are nested`() throws {
    #expect(
      try texts("`a ${f({ b: `${c} }` })} \\` \\${ d`") == [
        "`a ${", "f", "(", "{", "b", ":", "`${", "c", "} }`", "}", ")", "} \\` \\${ d`",
      ])
  }

  @Test(arguments: ["= ", "return ", "f(", "a => "])
  func `a slash where an operand is expected begins a regular expression`(before: String) throws {
    let literal = #"/[/"]\/'/gu"#
    let tokens = try Scanner.tokens(of: before + literal + ";")
    #expect(tokens.contains { $0.kind == .regularExpression && $0.text == literal })
  }

  @Test(arguments: ["a / b / c", "(a) / b / c", "a[0] / b / c", "`${a}` / b / c", "1 / b / c"])
  func `a slash after an operand divides`(script: String) throws {
    #expect(try texts(script).suffix(4) == ["/", "b", "/", "c"])
  }

  @Test(arguments: ["\"a", "'a\\'", "`a", "`${a}", "= /a", "= /[/]", "/* a"])
  func `a literal or a comment without an end is an error`(script: String) {
    #expect(throws: BundlingError.self) { try Scanner.tokens(of: script) }
  }
}
