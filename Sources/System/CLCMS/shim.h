#include <lcms2.h>

// Macros with arguments, which Swift does not import.
static const cmsUInt32Number clcms_rgba = TYPE_RGBA_8;
static const cmsUInt32Number clcms_inverted_cmyk = TYPE_CMYK_8_REV;
