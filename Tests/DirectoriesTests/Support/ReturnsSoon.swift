/// Whether a call ends by itself, and does not wait for what goes on in the background: that is given
/// at least 10 seconds in these tests.
func returnsSoon(_ call: () -> Void) -> Bool { ContinuousClock().measure(call) < .seconds(9) }
