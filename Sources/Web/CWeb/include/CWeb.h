#ifndef CWEB_H
#define CWEB_H

// The files of the web page, as they are in Sources/Web/page and Sources/JavaScript/relay-client.

#include <stddef.h>

struct cweb_file {
  const char *name;  // relative: "app.js", "relay-client/index.js"
  const unsigned char *bytes;
  size_t count;
};

size_t cweb_count(void);
const struct cweb_file *cweb_file(size_t index);

#endif
