#ifndef FLOOR_HANDSHAKE_H
#define FLOOR_HANDSHAKE_H

#include <stddef.h>

// The bytes of Sec-WebSocket-Accept for a key (RFC 6455 §4.2.2), with the 0 behind them.
enum { ACCEPT_KEY_BYTES = 29 };

// SHA-1 of the key and the protocol's GUID, in base64.
void accept_key(const char *key, size_t count, char accept[ACCEPT_KEY_BYTES]);

#endif
