import Testing

@testable import Directories

@Suite struct `Link, RFC 8288` {
  @Test(arguments: [
    (
      #"<https://a/?since=46>; rel="next", <https://a/{?since}>; rel="first""#,
      "https://a/?since=46"
    ),
    (
      #"<https://a/1>; rel="prev", <https://a/3>; rel="next", <https://a/9>; rel="last""#,
      "https://a/3"
    ),
    (#"<https://a/?a=1,2;3>; title="x, <y>; rel=next"; rel=next"#, "https://a/?a=1,2;3"),
    (#"<https://a/1>;rel="last NEXT""#, "https://a/1"),
    (#"<https://a/1>; rel="prev""#, nil), ("", nil), ("<", nil), ("next", nil), ("<a>", nil),
  ])
  func `the target of a relation is found`(field: String, next: String?) {
    #expect(LinkField.target("next", in: field) == next)
  }
}
