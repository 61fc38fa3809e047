"""What the peers send: short, worth being compressed, and of 60 KiB."""
TEXTS = ["hello \U0001f44b", "to be or not to be € " * 100, ""]
number = 1
while len(TEXTS[2]) < 60 * 1024 - 8:
    number = number * 7919 % 1_000_003
    TEXTS[2] += f"{number} "
TEXTS[2] += "x" * (60 * 1024 - len(TEXTS[2]))
