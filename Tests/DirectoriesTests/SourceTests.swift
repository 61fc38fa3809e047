import Testing

@testable import Directories

@Suite struct `Sources, as a configuration names them` {
  @Test func `GitHub has four`() {
    #expect(GitHubSource("org:swiftlang") == .members(organisation: "swiftlang"))
    #expect(GitHubSource("followers:Ada-L") == .followers(user: "Ada-L"))
    #expect(GitHubSource("following:a_corp") == .following(user: "a_corp"))
    #expect(GitHubSource("users") == .users)
    for text in ["", "org", "org:", "org:a/b", "users:", "users:a", "Org:a", "org:a b", "org:a?b"] {
      #expect(GitHubSource(text) == nil, "\(text)")
    }
    for text in ["org:swiftlang", "followers:Ada-L", "following:a_corp", "users"] {
      #expect(GitHubSource(text)?.description == text)
    }
  }

  @Test func `X has followers`() {
    #expect(XService.account(in: "followers:rust_lang") == "rust_lang")
    for text in ["followers:", "rust", "followers:a-b", "following:a", "followers:a/b"] {
      #expect(XService.account(in: text) == nil, "\(text)")
    }
  }
}
