// Nothing to call: this library is preloaded.
