"""Models with discrete latents, learned by EM."""
