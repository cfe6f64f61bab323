"""Mixtures of exponentials as classifiers: contrastive and generative training (Lee, Seung & Saul)."""
