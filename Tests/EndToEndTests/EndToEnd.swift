import Testing

/// The commands themselves, on ports of their own, with clients of every kind.
///
/// One test after the other: several of them load the machine so much that parallel ones
/// would have to wait for seconds.
@Suite(.serialized) struct `End to end` {}
