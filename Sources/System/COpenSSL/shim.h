#include <openssl/bio.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* SSL_ctrl macros, which Swift does not import. */

static inline int copenssl_set_minimum_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}

static inline int copenssl_set_maximum_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_max_proto_version(context, version);
}

static inline void copenssl_set_mode(SSL_CTX *context, long mode) {
  SSL_CTX_set_mode(context, mode);
}

static inline void copenssl_forgo_session_cache(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline int copenssl_set_server_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline int copenssl_use_chain(SSL_CTX *context, STACK_OF(X509) *chain) {
  return (int)SSL_CTX_set1_chain(context, chain);
}

static inline int copenssl_error_reason(unsigned long code) { return ERR_GET_REASON(code); }

static inline int copenssl_error_is_ssl(unsigned long code) { return ERR_GET_LIB(code) == ERR_LIB_SSL; }

static inline int copenssl_error_is_system(unsigned long code) { return ERR_SYSTEM_ERROR(code); }
