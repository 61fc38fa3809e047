internal import COpenSSL
internal import Synchronization

/// The input and output of one call on a session. OpenSSL accesses them through a BIO without a
/// buffer: OpenSSL's own memory BIO keeps its maximum size, which for an idle connection is more
/// than everything else.
@safe struct TLSExchange {
  private var input: UnsafePointer<UInt8>?
  private var inputCount: Int
  private var inputOffset = 0
  private var output: [UInt8] = []

  private init(_ input: UnsafePointer<UInt8>?, _ count: Int) {
    unsafe self.input = unsafe input
    inputCount = count
  }

  /// Runs `body`, in which the session of `bio` reads these bytes and appends to `output`.
  static func run<Result>(
    _ bio: OpaquePointer, reading input: UnsafePointer<UInt8>?, _ count: Int,
    writing output: inout [UInt8], _ body: () -> Result
  ) -> Result {
    var exchange = unsafe TLSExchange(input, count)
    swap(&exchange.output, &output)
    let result = unsafe withUnsafeMutablePointer(to: &exchange) { pointer in
      unsafe BIO_set_data(bio, pointer)
      defer { unsafe BIO_set_data(bio, nil) }
      return body()
    }
    swap(&exchange.output, &output)
    return result
  }

  /// Returns a new BIO of this kind, owned by the caller; `nil` if there is no memory.
  static func makeBIO() -> OpaquePointer? {
    guard let method = unsafe sharedMethod() else { return nil }
    return unsafe BIO_new(method)
  }

  /// Creates the method that all these BIOs share, unless it exists. Must be called before the
  /// first BIO is created, at a point where the process may still exit if there is no memory: parts
  /// of OpenSSL attempt their initialization only once.
  ///
  /// - Returns: `false` if there is no memory.
  static func prepare() -> Bool { unsafe sharedMethod() != nil }

  /// The address of the `BIO_METHOD`, which never changes once it is created; 0 before that.
  private static let methodAddress = Mutex<UInt>(0)

  private static func sharedMethod() -> OpaquePointer? {
    unsafe methodAddress.withLock { address in
      if address == 0, let method = unsafe makeMethod() {
        address = UInt(bitPattern: method)
      }
      return unsafe OpaquePointer(bitPattern: address)
    }
  }

  private static func makeMethod() -> OpaquePointer? {
    let index = BIO_get_new_index()
    guard index >= 0,
      let method = unsafe BIO_meth_new(index | Int32(BIO_TYPE_SOURCE_SINK), "relay exchange")
    else { return nil }
    unsafe BIO_meth_set_create(method) { bio in
      unsafe BIO_set_init(bio, 1)
      return 1
    }
    unsafe BIO_meth_set_read(method) { bio, target, count in
      unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
      guard let exchange = unsafe TLSExchange.of(bio), let target = unsafe target else { return -1 }
      let taken = unsafe exchange.pointee.take(Int(count), into: target)
      if taken == 0 {
        unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        return -1
      }
      return Int32(taken)
    }
    unsafe BIO_meth_set_write(method) { bio, source, count in
      unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
      guard let exchange = unsafe TLSExchange.of(bio), let source = unsafe source else { return -1 }
      unsafe exchange.pointee.append(source, Int(count))
      return count
    }
    unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in
      command == BIO_CTRL_FLUSH ? 1 : 0
    }
    return unsafe method
  }

  private static func of(_ bio: OpaquePointer?) -> UnsafeMutablePointer<TLSExchange>? {
    unsafe BIO_get_data(bio)?.assumingMemoryBound(to: TLSExchange.self)
  }

  private mutating func take(_ wanted: Int, into target: UnsafeMutablePointer<CChar>) -> Int {
    let count = min(wanted, inputCount - inputOffset)
    guard count > 0, let input = unsafe input else { return 0 }
    unsafe UnsafeMutableRawPointer(target).copyMemory(from: input + inputOffset, byteCount: count)
    inputOffset += count
    return count
  }

  private mutating func append(_ source: UnsafePointer<CChar>, _ count: Int) {
    unsafe output.append(
      contentsOf: UnsafeRawBufferPointer(start: source, count: count))
  }
}
