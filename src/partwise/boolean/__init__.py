"""Boolean matrix factorization: algebra on packed bits, and the searches for tiles built on it."""
