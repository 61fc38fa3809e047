enum PlaceholderBots {}
