#include "handshake.h"

#include <stdint.h>
#include <string.h>

static uint32_t rotated(uint32_t value, int by) { return value << by | value >> (32 - by); }

// Processes one block of SHA-1 (RFC 3174 §6.1).
static void digest_block(uint32_t state[5], const uint8_t *block) {
  uint32_t words[80];
  for (int i = 0; i < 16; i++)
    words[i] = (uint32_t)block[i * 4] << 24 | (uint32_t)block[i * 4 + 1] << 16 |
               (uint32_t)block[i * 4 + 2] << 8 | block[i * 4 + 3];
  for (int i = 16; i < 80; i++)
    words[i] = rotated(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
  for (int i = 0; i < 80; i++) {
    uint32_t mixed, constant;
    if (i < 20) {
      mixed = (b & c) | (~b & d), constant = 0x5A827999;
    } else if (i < 40) {
      mixed = b ^ c ^ d, constant = 0x6ED9EBA1;
    } else if (i < 60) {
      mixed = (b & c) | (b & d) | (c & d), constant = 0x8F1BBCDC;
    } else {
      mixed = b ^ c ^ d, constant = 0xCA62C1D6;
    }
    uint32_t next = rotated(a, 5) + mixed + e + constant + words[i];
    e = d, d = c, c = rotated(b, 30), b = a, a = next;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

void accept_key(const char *key, size_t count, char accept[ACCEPT_KEY_BYTES]) {
  static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  // A key has 24 bytes, so two blocks suffice; a longer key is truncated, and its handshake fails.
  uint8_t text[128] = {0};
  if (count > 64) count = 64;
  memcpy(text, key, count);
  memcpy(text + count, guid, sizeof guid - 1);
  size_t length = count + sizeof guid - 1;
  text[length] = 0x80;
  int blocks = length + 9 > 64 ? 2 : 1;
  uint64_t bits = (uint64_t)length * 8;
  for (int i = 0; i < 8; i++) text[blocks * 64 - 1 - i] = (uint8_t)(bits >> (8 * i));
  uint32_t state[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  for (int i = 0; i < blocks; i++) digest_block(state, text + i * 64);

  uint8_t digest[21] = {0};
  for (int i = 0; i < 20; i++) digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int i = 0; i < 7; i++) {
    uint32_t three = (uint32_t)digest[i * 3] << 16 | (uint32_t)digest[i * 3 + 1] << 8 |
                     digest[i * 3 + 2];
    for (int k = 0; k < 4; k++) accept[i * 4 + k] = digits[three >> (18 - 6 * k) & 63];
  }
  accept[27] = '=';
  accept[28] = 0;
}
