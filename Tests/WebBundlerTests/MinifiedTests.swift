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
