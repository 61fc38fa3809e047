enum PlaceholderSQLiteLogTests {}
