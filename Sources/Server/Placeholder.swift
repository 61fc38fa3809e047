enum PlaceholderServer {}
