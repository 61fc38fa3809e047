enum PlaceholderMailboxTests {}
