internal import COpenSSL
internal import Glibc
internal import Platform

/// Loads the PEM files of a context, and describes their errors.
enum TLSFiles {
  static func use(
    certificate: String, key: String, acceptingAnyDate: Bool, in context: TLSContext
  ) throws(TLSFileError) {
    let isOneFile = certificate == key
    try check(certificate, "certificate") { PEM.isCertificate($0) || isOneFile }
    try check(key, "key") {
      // `openssl ecparam -genkey` writes the name of the curve before the key.
      PEM.isPrivateKey($0) || $0 == "EC PARAMETERS" || isOneFile && PEM.isCertificate($0)
    }
    ERR_clear_error()
    guard unsafe SSL_CTX_use_certificate_chain_file(context.context, certificate) == 1,
      let leaf = unsafe SSL_CTX_get0_certificate(context.context)
    else {
      throw TLSFileError(
        "The certificate \(certificate) holds no certificate in PEM form (\(reason())).")
    }
    if !acceptingAnyDate { try unsafe checkDates(of: leaf, certificate) }
    let secret = try unsafe readKey(key)
    defer { unsafe EVP_PKEY_free(secret) }
    guard unsafe X509_check_private_key(leaf, secret) == 1,
      unsafe SSL_CTX_use_PrivateKey(context.context, secret) == 1
    else {
      throw TLSFileError(
        "The key \(key) does not belong to the certificate \(certificate) (\(reason())).")
    }
  }

  static func trust(_ file: String, in context: TLSContext) throws(TLSFileError) {
    try check(file, "list of authorities") { PEM.isCertificate($0) || $0 == "X509 CRL" }
    ERR_clear_error()
    guard unsafe SSL_CTX_load_verify_locations(context.context, file, nil) == 1 else {
      throw TLSFileError(
        "The list of authorities \(file) holds no certificate in PEM form (\(reason())).")
    }
  }

  // MARK: Parts

  /// Larger than any list of authorities.
  private static let limitBytes = 16 << 20

  /// Checks that the file is readable, since the system's error is clearer than OpenSSL's, and that
  /// OpenSSL does not skip a part of it.
  /// - Parameter isUsed: whether a block with this label is used.
  private static func check(
    _ file: String, _ what: String, _ isUsed: (String) -> Bool
  ) throws(TLSFileError) {
    let labels: [String]
    do throws(SystemError) {
      labels = PEM.labels(in: try WholeFile.read(file, limitBytes: limitBytes))
    } catch {
      let action = error.call.hasPrefix("open ") ? "opened" : "read"
      throw TLSFileError("The \(what) \(file) cannot be \(action): \(error.reason).")
    }
    if labels.contains(where: isUsed), let unused = labels.first(where: { !isUsed($0) }) {
      throw TLSFileError(
        "The \(what) \(file) also holds a block that is not used there, \(unused); remove it.")
    }
    let keys = labels.count(where: PEM.isPrivateKey)
    guard keys < 2 else {
      throw TLSFileError(
        "The \(what) \(file) holds \(keys) private keys, of which one would be used; keep only that."
      )
    }
  }

  private static func readKey(_ file: String) throws(TLSFileError) -> OpaquePointer {
    ERR_clear_error()
    guard let bio = unsafe BIO_new_file(file, "r") else {
      throw TLSFileError("The key \(file) cannot be opened (\(reason())).")
    }
    defer { unsafe BIO_free(bio) }
    var wantsPassphrase = false
    // Without this callback OpenSSL would prompt at the terminal.
    let key = unsafe PEM_read_bio_PrivateKey(
      bio, nil,
      { _, _, _, asked in
        unsafe asked?.assumingMemoryBound(to: Bool.self).pointee = true
        return -1
      }, &wantsPassphrase)
    guard let key = unsafe key else {
      throw TLSFileError(
        wantsPassphrase
          ? "The key \(file) has a passphrase; remove it with `openssl pkey`."
          : "The key \(file) holds no private key in PEM form (\(reason())).")
    }
    return unsafe key
  }

  private static func checkDates(
    of certificate: OpaquePointer, _ file: String
  ) throws(TLSFileError) {
    let first = unsafe X509_get0_notBefore(certificate)
    let last = unsafe X509_get0_notAfter(certificate)
    if unsafe X509_cmp_current_time(last) < 0 {
      throw TLSFileError(
        "The certificate \(file) expired on \(unsafe day(last)); clients would reject it. Replace it with a new one."
      )
    }
    if unsafe X509_cmp_current_time(first) > 0 {
      throw TLSFileError(
        "The certificate \(file) is not valid before \(unsafe day(first)); check the system clock.")
    }
  }

  private static func day(_ time: UnsafePointer<ASN1_TIME>?) -> String {
    var parts = unsafe tm()
    guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return "an unreadable date" }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
  }

  /// Returns OpenSSL's message for the last failure on this thread.
  static func reason() -> String {
    defer { ERR_clear_error() }
    return TLSFailure.text(of: ERR_get_error())
  }
}
