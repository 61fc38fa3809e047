import Testing

@testable import Gateway

@Suite struct `Modules of the web page` {
  private static let modules = WebModules(
    [
      ("app.js", "import { el } from \"./dom.js\";\nimport \"./list.js\";\nel();\n"),
      ("dom.js", "export const el = (tag) => tag;\nexport function* icons() {}\n"),
      (
        "list.js",
        """
        import {
          el,
          icons as all,
        } from "./dom.js";
        import { connect } from "./client/client.js";
        export class List extends Base {
          menu() { return import("./menu.js"); }
        }
        export async function open(name) {}

        """
      ),
      (
        "client/client.js",
        """
        import { Room } from "./room.js";
        export { Room as Place } from "./room.js";
        export {};
        export const connect = () => import("./poll.js");

        """
      ),
      ("client/room.js", "export class Room{}\n"),
      ("client/poll.js", "import { Room } from \"./room.js\";\nexport const poll = new Room();\n"),
      ("menu.js", "import { List } from \"./list.js\";\nimport \"./poll.js\";\n"),
      ("poll.js", "poll();\n"),
    ], entry: "app.js")

  @Test func `what the entry imports, directly or not, is one file, each module after its imports`()
  {
    #expect(
      Self.modules.combined == """
        const m0 = await (async () => {
        const el = (tag) => tag;
        function* icons() {}
        return { el, icons };
        })();
        const m1 = await (async () => {
        class Room{}
        return { Room };
        })();
        const m2 = await (async () => {
        const { Room } = m1;
        const { Room: Place } = m1;
        const connect = () => import("./client/poll.js");
        return { Place, connect };
        })();
        const m3 = await (async () => {
        const { el, icons: all } = m0;
        const { connect } = m2;
        class List extends Base {
          menu() { return import("./menu.js"); }
        }
        async function open(name) {}
        return { List, open };
        })();
        export { m0, m1, m2, m3 };

        """)
  }

  @Test func `the entry, and what is loaded later, import from that file`() {
    #expect(
      Self.modules.text("app.js") == """
        import { m0 } from "./modules.js";
        const { el } = m0;
        import { m3 } from "./modules.js";
        el();

        """)
    #expect(
      Self.modules.text("client/poll.js") == """
        import { m1 } from "../modules.js";
        const { Room } = m1;
        const poll = new Room();
        export { poll };

        """)
  }

  @Test func `what is not in that file is imported as before`() {
    #expect(!Self.modules.isCombined("menu.js") && Self.modules.isCombined("client/room.js"))
    #expect(
      Self.modules.text("menu.js") == """
        import { m3 } from "./modules.js";
        const { List } = m3;
        import "./poll.js";

        """)
  }

  @Test func `an entry that imports nothing leaves the files as they are`() {
    let modules = WebModules([("app.js", "app();\n"), ("a.js", "a();\n")], entry: "app.js")
    #expect(modules.combined == nil)
    #expect(modules.text("a.js") == "a();\n")
  }
}
