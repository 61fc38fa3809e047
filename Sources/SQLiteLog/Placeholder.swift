enum PlaceholderSQLiteLog {}
