enum PlaceholderRelay {}
