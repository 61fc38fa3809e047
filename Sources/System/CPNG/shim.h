#include <png.h>

// A macro of macros, which Swift does not import.
static const png_uint_32 cpng_rgba = PNG_FORMAT_RGBA;
