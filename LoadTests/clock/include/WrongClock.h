// Empty: this library is only preloaded.
