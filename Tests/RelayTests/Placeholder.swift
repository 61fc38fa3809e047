enum PlaceholderRelayTests {}
