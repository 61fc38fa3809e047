/// Entity tags (RFC 9110 §8.8.3), by which a client asks only for what has changed.
enum EntityTag {
  /// Whether `If-None-Match` names the tag. The comparison is weak (RFC 9110 §13.1.2).
  /// - Parameters:
  ///   - tag: with its quotation marks, and without `W/`.
  ///   - fields: the values of `If-None-Match`.
  static func isNamed(_ tag: String, in fields: [String]) -> Bool {
    fields.contains { field in
      field == "*"
        || field.split(separator: ",").contains { name in
          let name = name.drop { $0 == " " }
          return (name.hasPrefix("W/") ? name.dropFirst(2) : name) == tag
        }
    }
  }
}
