/* Makes zlib's read-only input pointers const. */
#define ZLIB_CONST
#include <zlib.h>

/* Macros, which Swift cannot import. A negative number of window bits selects a raw stream, without
   header and checksum, as RFC 7692 requires. */
static inline int czlib_inflate_init_raw(z_stream *stream, int window_bits) {
  return inflateInit2(stream, -window_bits);
}

static inline int czlib_deflate_init_raw(z_stream *stream, int level, int window_bits) {
  return deflateInit2(stream, level, Z_DEFLATED, -window_bits, 8, Z_DEFAULT_STRATEGY);
}
