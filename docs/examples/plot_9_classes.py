"""
Parts that tell classes apart
=============================

NMF features and a few components for each class: a small classifier whose parts can be looked at.
"""

from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from partwise import NMF, MixtureClassifier, plot
from partwise.datasets import load_digits

digits = load_digits()
X, X_new, y, y_new = train_test_split(digits.data, digits.target, test_size=0.3, random_state=0)
model = make_pipeline(NMF(24, beta_loss="kl", max_iter=100), MixtureClassifier(2, random_state=0))
model.fit(X, y)
print(f"wrong: {100 * (model.predict(X_new) != y_new).mean():.1f} %")
classes = plot.classes(model, X_new, y_new, shape=(8, 8))
