internal import Wire

/// An account as a line of an export, after those of rooms and members. Sessions, invitations and codes are
/// not exported.
public struct AccountLine: Equatable, Sendable {
  public var account: Account

  public init(_ account: Account) { self.account = account }

  /// The line with its line break.
  public var bytes: [UInt8] {
    JSONText.object([
      ("type", .text("account")), ("user", .text(account.user)), ("name", .text(account.name)),
      ("issuer", account.binding.map { .text($0.issuer) }),
      ("subject", account.binding.map { .text($0.subject) }),
      ("picture", account.picture.map { .text($0) }),
      ("operator", account.isOperator ? .flag(true) : nil),
      ("disabled", account.isDisabled ? .flag(true) : nil),
      ("created_at", .number(account.createdAt)),
    ]).bytes + [UInt8(ascii: "\n")]
  }

  private static let beginning = Array(#"{"type":"account","#.utf8)

  /// Decodes a line, without its line break; `nil` if it is another kind of line.
  /// - Throws: what is wrong with it, as a part of a sentence.
  public init?(decoding line: [UInt8]) throws(Malformed) {
    guard line.starts(with: Self.beginning) else { return nil }
    guard let json = JSONNode(line), json.isObject else {
      throw Malformed(reason: "it is not a JSON object")
    }
    guard let user = json["user"]?.string, UserName.isValid(user) else {
      throw Malformed(reason: "\"user\" is not a valid user name")
    }
    guard let name = json["name"]?.string,
      LabelText.isName(name, bytes: AccountSettings.nameBytes)
    else { throw Malformed(reason: "\"name\" is not a name of one line") }
    guard let createdAt = json["created_at"]?.integer else {
      throw Malformed(reason: "\"created_at\" is missing or not a whole number")
    }
    account = Account(
      user: user, name: name, isOperator: json["operator"]?.boolean ?? false,
      isDisabled: json["disabled"]?.boolean ?? false, createdAt: createdAt)
    if let issuer = json["issuer"]?.string, let subject = json["subject"]?.string {
      account.binding = ProviderBinding(issuer: issuer, subject: subject)
    }
    if let picture = json["picture"]?.string {
      guard PictureAddress.isValid(picture) else {
        throw Malformed(reason: "\"picture\" is not an address")
      }
      account.picture = picture
    }
  }

  /// Why a line cannot be imported.
  public struct Malformed: Error {
    public var reason: String
  }
}
