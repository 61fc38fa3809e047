/// A reason why the page cannot be built.
struct BundlingError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
