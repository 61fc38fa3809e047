enum PlaceholderWire {}
