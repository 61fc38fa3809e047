// Embeds the files of the web page into the program.

#include "CWeb.h"

// In clang an extension before C23, and without effect on the rest.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../page/index.html"
};

static const struct cweb_file files[] = {
    {"index.html", index_html, sizeof index_html},
};

size_t cweb_count(void) { return sizeof files / sizeof *files; }

const struct cweb_file *cweb_file(size_t index) { return &files[index]; }
