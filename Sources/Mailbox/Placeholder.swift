enum PlaceholderMailbox {}
