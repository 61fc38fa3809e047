enum PlaceholderWireTests {}
