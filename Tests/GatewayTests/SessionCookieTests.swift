import Accounts
import Testing

@testable import Gateway

@Suite struct `The cookie of a device` {
  @Test func `is bound to its host with https, and has its port without`() {
    #expect(
      cookie("https://chat.example.org").fields(.session("t"))
        == ["__Host-relay=t; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax; Secure"])
    #expect(
      cookie("http://127.0.0.1:8080").fields(.session("t"))
        == ["relay-8080=t; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax"])
  }

  @Test func `is for the path of the relay alone if that has one`() {
    #expect(
      cookie("https://example.org/chat", below: "/chat").fields(.none)
        == ["__Secure-relay=; Path=/chat/; Max-Age=0; HttpOnly; SameSite=Lax; Secure"])
  }

  private func cookie(_ url: String, below prefix: String = "") -> SessionCookie {
    SessionCookie(url: url, isDefault: false, pathPrefix: prefix)
  }
}
