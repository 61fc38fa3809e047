enum PlaceholderEndToEndTests {}
