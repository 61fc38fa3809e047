enum PlaceholderServerTests {}
