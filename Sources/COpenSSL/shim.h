// OpenSSL 3 as a Swift module. Each shim stands for a macro (Swift imports none that take arguments) or for a variadic
// function (Swift can't call one).
#ifndef GLASSWING_COPENSSL_SHIM_H
#define GLASSWING_COPENSSL_SHIM_H

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

static inline EVP_PKEY *glasswing_p256_generate(void) { return EVP_EC_gen("P-256"); }

static inline int glasswing_ssl_ctx_set_only_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version) && SSL_CTX_set_max_proto_version(context, version);
}

static inline int glasswing_ssl_ctx_set_groups(SSL_CTX *context, const char *list) {
  return (int)SSL_CTX_set1_groups_list(context, list);
}

// Both for what this side signs and for what it takes of the peer's.
static inline int glasswing_ssl_ctx_set_signatures(SSL_CTX *context, const char *list) {
  return (int)SSL_CTX_set1_sigalgs_list(context, list) && (int)SSL_CTX_set1_client_sigalgs_list(context, list);
}

static inline void glasswing_ssl_ctx_set_max_cert_list(SSL_CTX *context, long bytes) {
  SSL_CTX_set_max_cert_list(context, bytes);
}

// No resumption of any kind; buffers of a connection that rests are given back.
static inline void glasswing_ssl_ctx_set_no_sessions(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

// The options' values are macros that take arguments.
static inline void glasswing_ssl_ctx_set_options(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
}

static inline void glasswing_openssl_free(void *memory) { OPENSSL_free(memory); }

#endif
