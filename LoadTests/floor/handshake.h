#ifndef FLOOR_HANDSHAKE_H
#define FLOOR_HANDSHAKE_H

#include <stddef.h>

// The size of Sec-WebSocket-Accept (RFC 6455 §4.2.2), including the terminating 0.
enum { ACCEPT_KEY_BYTES = 29 };

// Computes the SHA-1 of the key and the protocol's GUID, in base64.
void accept_key(const char *key, size_t count, char accept[ACCEPT_KEY_BYTES]);

#endif
