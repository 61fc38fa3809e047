enum PlaceholderClient {}
