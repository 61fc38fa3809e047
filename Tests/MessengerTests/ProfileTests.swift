import Terminal
import TestSupport
import Testing

@testable import Messenger

@Suite struct `Profiles of a configuration file` {
  private func read(_ text: String) throws -> Settings {
    try Settings.read(Array(text.utf8), file: "config.yaml")
  }

  private func read(_ text: String, profile: String) throws -> Settings {
    try read(text).choosing(profile: profile, file: "config.yaml")
  }

  @Test func `a profile inherits what it does not set, wherever that is in the file`() throws {
    let text = """
      profiles:
        work: { url: wss://chat.example.org, theme: light, highlight: [deploy] }
        bo:
      user: ada
      theme: dark
      clock: 12h
      highlight: [tea]
      ca: /etc/ca.pem
      """
    let work = try read(text, profile: "work")
    #expect(work.url == "wss://chat.example.org")
    #expect(work.isProfilesURL)
    #expect(work.user == "ada")
    #expect(work.ca == "/etc/ca.pem")
    #expect(work.theme == .light)
    #expect(work.clock == .h12)
    #expect(work.highlight == ["deploy"])
    #expect(work.profile == "work")
    let bo = try read(text, profile: "bo")
    #expect(!bo.isProfilesURL)
    #expect(bo.theme == .dark)
    #expect(bo.highlight == ["tea"])
    // Without a profile nothing of theirs is in force.
    let common = try read(text)
    #expect(common.url == nil)
    #expect(common.profile == nil)
    #expect(common.profiles.map(\.name) == ["work", "bo"])
  }

  @Test(arguments: [
    ("work: { url: wss://other.example }", nil), ("work: { user: bo }", nil),
    ("work: { theme: dark }", "pass chat"),
    ("work: { url: wss://other.example, token_command: pass other }", "pass other"),
    ("work: { token_command: pass other, user: bo }", "pass other"),
  ]) func `a token is not inherited by another user, nor for another relay`(
    profile: String, command: String?
  ) throws {
    let settings = try read(
      "token_command: pass chat\nprofiles: { \(profile) }", profile: "work")
    #expect(settings.tokenCommand == command)
  }

  @Test func `an empty value removes what would be inherited`() throws {
    let settings = try read(
      "url: wss://a.example\nuser: ada\nca: a.pem\nprofiles: { w: { url: '', user: '', ca: '' } }",
      profile: "w")
    #expect(settings.url == nil)
    #expect(settings.user == nil)
    #expect(settings.ca == nil)
  }

  @Test func `keys of a profile change those that it inherits`() throws {
    let keymap = try read(
      "keys: { search: f3 }\nprofiles: { w: { keys: { mute: f4 } } }", profile: "w"
    ).keymap
    #expect(keymap.command(for: try Key.named("f3").get(), in: .composer) == .search)
    #expect(keymap.command(for: try Key.named("f4").get(), in: .composer) == .mute)
  }

  @Test func `an unknown profile is refused with those that exist`() throws {
    func refusal(_ text: String, _ name: String) -> String? {
      #expect(throws: Settings.UnknownProfile.self) { try read(text, profile: name) }?.description
    }
    #expect(
      refusal("profiles: { home: , work: }", "wrok")
        == "there is no profile \"wrok\" in config.yaml; did you mean work? known: home, work")
    #expect(
      refusal("user: ada", "work")
        == "there is no profile \"work\" in config.yaml, which has no profiles: "
        + "add it under profiles")
  }

  @Test(arguments: [
    (
      "profiles:\n  w: { them: dark }",
      "2: profiles.w.them: is not a known key of a profile; "
        + "did you mean profiles.w.theme?"
    ),
    (
      "profiles:\n  w:\n    theme: drak",
      "3: profiles.w.theme: \"drak\" is not one of auto, dark, light"
    ),
    (
      "profiles:\n  w: { sounds: { send: a } }",
      "2: profiles.w.sounds.send: is not a known key; did you mean profiles.w.sounds.sent?"
    ),
    ("profiles: { w: dark }", "1: profiles.w: \"dark\" is not a mapping of keys to values"),
    ("profiles: [w]", "1: profiles: a list is not a mapping of keys to values"),
    (
      "profiles: { 'a b': }",
      "1: profiles.a b: is not a valid name: use 1 to 64 of a-z A-Z 0-9 . _ -"
    ),
  ]) func `an error in a profile is reported with its path`(text: String, problem: String) {
    let error = #expect(throws: SettingsError.self) { try read(text) }
    #expect(error?.description == "config.yaml:\(problem)")
  }

  @Test func `a profile in a profile is refused`() {
    let error = #expect(throws: SettingsError.self) {
      try read("profiles: { w: { profiles: { x: } } }")
    }
    #expect(error?.problems.first?.key == "profiles.w.profiles")
  }

  @Test func `more profiles than the limit are refused`() throws {
    func text(_ count: Int) -> String {
      "profiles:\n" + (1...count).map { "  p\($0):\n" }.joined()
    }
    #expect(try read(text(64)).profiles.count == 64)
    #expect(throws: SettingsError.self) { try read(text(65)) }
  }

  @Test func `a profile is in the title of the window, and above the list or the conversation`() {
    var chat = Sample.busy(100, 24)
    #expect(!picture(chat.draw(.dark())).contains("(work)"))
    chat.settings.profile = "work"
    #expect(chat.windowTitle.hasSuffix("Grace Hopper – wschat (work)"))
    let rows = picture(chat.draw(.dark())).split(separator: "\n")
    #expect(rows.first?.hasPrefix(" Ada Lovelace (work)") == true, "\(rows.first ?? "")")
    chat.settings.hasSidebar = false
    let hidden = picture(chat.draw(.dark())).split(separator: "\n")
    #expect(hidden.first?.contains(" work ") == true, "\(hidden.first ?? "")")
  }
}
