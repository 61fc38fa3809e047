import Testing

@testable import Server

@Suite struct `The names of shared uploads` {
  private let place = SharedUpload.Place(id: "id", expiresAt: 1000)
  private let first = UploadClaim(number: 0, writer: "a")
  private let second = UploadClaim(number: 1, writer: "b")

  private func part(
    _ claim: UploadClaim, _ range: Range<Int64>, after writer: String = SharedUpload.noWriter
  ) -> SharedPart {
    SharedPart(claim: claim, range: range, parent: writer)
  }

  private func upload(_ parts: [SharedPart], hasRecord: Bool = true) -> SharedUpload? {
    SharedUpload(names: parts.map(place.name) + (hasRecord ? [place.record] : []))
  }

  @Test func `without a record are of no upload`() {
    #expect(upload([part(first, 0..<5)], hasRecord: false) == nil)
    #expect(upload([])?.path == [])
    #expect(upload([])?.place == place)
  }

  @Test func `say which parts an upload consists of`() {
    let parts = [part(first, 0..<5), part(first, 5..<7, after: "a")]
    #expect(upload(parts.reversed())?.path == parts)
  }

  @Test func `tell a part of a relay that has lost its claim from those of the one that goes on`() {
    let base = part(first, 0..<5)
    let late = part(first, 5..<9, after: "a")
    let next = part(second, 5..<6, after: "a")
    #expect(upload([base, late])?.path == [base, late])
    #expect(upload([base, late, next])?.path == [base, next])
  }

  @Test func `prefer the part that replaces shorter ones`() {
    let long = part(first, 0..<8)
    let small = [part(first, 0..<4), part(first, 4..<8, after: "a")]
    #expect(upload(small + [long])?.path == [long])
    let next = part(second, 8..<9, after: "a")
    #expect(upload(small + [long, next])?.path == [long, next])
    // The first one is removed already.
    #expect(upload([small[1], long, next])?.path == [long, next])
  }

  @Test func `tell that a part is missing`() {
    #expect(upload([part(first, 5..<9, after: "a")])?.path == nil)
  }

  @Test func `are in the order of the claims, and the record is last`() {
    let claims = [
      first, UploadClaim(number: 9, writer: "zz"), UploadClaim(number: 10, writer: "-a"),
      UploadClaim(number: 10, writer: "B"),
    ]
    let names = claims.flatMap { claim in
      [place.name(of: claim), place.name(of: part(claim, 0..<5)), place.end(of: claim)]
    }
    #expect(names + [place.record] == (names + [place.record]).sorted())
    #expect(claims == claims.sorted())
  }
}
