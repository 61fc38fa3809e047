/* Input that zlib only reads is imported as such. */
#define ZLIB_CONST
#include <zlib.h>

/* Macros, which Swift cannot import. A negative number of window bits means a raw stream, without
   header and checksum (RFC 7692 has no use for them). */
static inline int czlib_inflate_init_raw(z_stream *stream, int window_bits) {
  return inflateInit2(stream, -window_bits);
}

static inline int czlib_deflate_init_raw(z_stream *stream, int level, int window_bits) {
  return deflateInit2(stream, level, Z_DEFLATED, -window_bits, 8, Z_DEFAULT_STRATEGY);
}
