"""Boolean algebra on packed bits, and the searches for tiles that are built on it."""
