/// Returns what a step gives that the program can do without. If it fails, tells the user, and returns `nil`:
/// in place of `try?`, which hides the error.
/// - Parameter explain: says what happened to which object, and what to do.
func attempt<Value, Failure: Error>(
  _ tell: (String) -> Void, _ explain: (Failure) -> String, _ step: () throws(Failure) -> Value
) -> Value? {
  do throws(Failure) {
    return try step()
  } catch {
    tell(explain(error))
    return nil
  }
}
