/// Whether a call returns by itself, without waiting for work in the background, which takes
/// at least 10 seconds in these tests.
func returnsSoon(_ call: () -> Void) -> Bool { ContinuousClock().measure(call) < .seconds(9) }
