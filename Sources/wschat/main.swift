print("wschat")
