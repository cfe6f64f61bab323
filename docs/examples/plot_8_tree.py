"""
A tree of topics
================

Topics that meet in the same texts stand together; arcs are as wide as what they explain.
"""

from sklearn.feature_extraction.text import TfidfVectorizer

from partwise import NMF, TopicTree, plot
from partwise.datasets import load_docstrings

docs = load_docstrings()
words = TfidfVectorizer(stop_words="english", min_df=5, token_pattern=r"[a-zA-Z]{3,}")
X = words.fit_transform(docs.data)
model = NMF(20)
W = model.fit_transform(X)
tree = TopicTree().fit(model, W=W, feature_names=words.get_feature_names_out())
sun = plot.sunburst(tree)
