import Testing

@testable import WebBundler

@Suite struct `Scripts and styles without what a browser does not need` {
  @Test(arguments: [
    ("const  a =\n  1;\n", "const a=1;"),
    ("a + +b - -c + d++;", "a+ +b- -c+d++;"),
    ("/** @type {A} */ (x).y; // z", "(x).y;"),
    ("f(\n  a,\n  [b,],\n);", "f(a,[b]);"),
    ("const [, a] = [1, ,];", "const[,a]=[1,,];"),
    ("const [,] = a;", "const[,]=a;"),
    ("x = `a ,\n } ${ b } c`;", "x=`a ,\n } ${b} c`;"),
    ("return /a b/g in c;", "return/a b/g in c;"),
  ])
  func `a script keeps the spaces that separate words and signs`(script: String, minified: String)
    throws
  {
    #expect(try Minified.script(Scanner.tokens(of: script)) == minified)
  }

  @Test func `private names become short, the most frequent ones one letter, and texts stay`()
    throws
  {
    let script =
      "class A { #one = `#one ${this.#two}`; #two; has(a) { return #two in a && a.#two; } }"
    #expect(
      try Minified.script(Minified.withShortNames(Scanner.tokens(of: script)))
        == "class A{#b=`#one ${this.#a}`;#a;has(a){return #a in a&&a.#a;}}")
    let many = (0..<60).map { "#name\($0);" }
    let names = try Minified.withShortNames(Scanner.tokens(of: many.joined())).map(\.text)
    #expect(Set(names.filter { $0 != ";" }).count == 60)
    #expect(names.allSatisfy { $0.count <= 3 })
  }

  @Test func `a style keeps the spaces that combine selectors and calculate`() {
    let style = """
      /* all */
      .a :hover > .b, c.d { /* e */
        width: calc(1px + 2px);
        content: "/* {  } */";
      }
      @media (min-width: 1px) and (hover) { .a { --b: "it's"; } }
      """
    #expect(
      Minified.style(style)
        == ".a :hover>.b,c.d{width:calc(1px + 2px);content:\"/* {  } */\";}"
        + "@media (min-width:1px) and (hover){.a{--b:\"it's\";}}")
  }
}
