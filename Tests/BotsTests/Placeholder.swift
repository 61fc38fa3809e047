enum PlaceholderBotsTests {}
