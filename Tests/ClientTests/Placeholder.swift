enum PlaceholderClientTests {}
