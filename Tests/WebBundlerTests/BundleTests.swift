import Testing

@testable import WebBundler

@Suite struct `Modules of the web page` {
  private static let sources = [
    "app.js": "import { el } from \"./dom.js\";\nimport \"./list.js\";\nel();\n",
    "dom.js": "export const el = (tag) => tag;\nexport function* icons() {}\n",
    "list.js": """
    import {
      el,
      icons as all,
    } from "./dom.js";
    import { connect } from "./client/client.js";
    export class List extends Base {
      menu() { return import("./menu.js"); }
    }
    export async function open(name) {}
    """,
    "client/client.js": """
    import { Room } from "./room.js";
    export { Room as Place } from "./room.js";
    export {};
    const crypto = await import("node:crypto");
    export const connect = () => import("./poll.js");
    """,
    "client/room.js": "class R {}\nexport { R as Room };\n",
    "client/poll.js": "import { Room } from \"./room.js\";\nexport const poll = new Room();\n",
    "menu.js": "import { List } from \"./list.js\";\nimport \"./poll.js\";\n",
    "poll.js": "poll();\n",
    "unused.js": "unused();\n",
  ]

  private func files(_ changes: [String: String] = [:]) throws -> [String: String] {
    let sources = Self.sources.merging(changes) { $1 }
    let bundle = try Bundle(entry: "app.js", others: [], sources: sources)
    return Dictionary(uniqueKeysWithValues: bundle.files.map { ($0.name, $0.text) })
  }

  @Test func `what the entry imports, directly or not, is one file, each module after its imports`()
    throws
  {
    #expect(
      try files()["modules.js"] == """
        const m0=await(async()=>{const el=(tag)=>tag;function*icons(){}return{el,icons}})();
        const m1=await(async()=>{class R{}return{Room:R}})();
        const m2=await(async()=>{const{Room}=m1;const{Room:Place}=m1;\
        const crypto=await import("node:crypto");const connect=()=>import("./client/poll.js");\
        return{Place,connect}})();
        const m3=await(async()=>{const{el,icons:all}=m0;const{connect}=m2;\
        class List extends Base{menu(){return import("./menu.js");}}async function open(name){}\
        return{List,open}})();
        export{m0,m1,m2,m3};

        """)
  }

  @Test func `the entry, and what is loaded later, import from that file`() throws {
    let files = try files()
    #expect(files["app.js"] == "import{m0,m3}from\"./modules.js\";\nconst{el}=m0;el();\n")
    #expect(
      files["client/poll.js"] == """
        import{m1}from"../modules.js";
        const{Room}=m1;const poll=new Room();export{poll};

        """)
    #expect(
      files["menu.js"] == """
        import{m3}from"./modules.js";
        import"./poll.js";
        const{List}=m3;

        """)
  }

  @Test func `a module is a file of its own, or in that file, or not needed`() throws {
    #expect(
      try files().keys.sorted() == ["app.js", "client/poll.js", "menu.js", "modules.js", "poll.js"])
  }

  @Test(arguments: [
    ("menu.js", "import \"./gone.js\";"), ("menu.js", "import(\"./dom.js\");"),
    ("menu.js", "import List from \"./list.js\";"), ("menu.js", "export default 1;"),
    ("menu.js", "export * from \"./list.js\";"), ("dom.js", "\"el"),
    ("client/room.js", "import.meta.url;"),
  ])
  func `what would not work in a browser is an error that names the module`(
    name: String, script: String
  ) throws {
    let error = #expect(throws: BundlingError.self) { try files([name: script]) }
    #expect(try #require(error).description.contains(name))
  }
}
