enum PlaceholderWebSocketTests {}
