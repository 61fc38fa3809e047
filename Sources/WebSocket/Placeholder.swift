enum PlaceholderWebSocket {}
