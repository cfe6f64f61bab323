"""
Communities of a network
========================

Zachary's karate club, before it split in two. A node is a pie where it has friends on both sides.
"""

from partwise import SymmetricNMF, plot
from partwise.datasets import load_karate

karate = load_karate()
model = SymmetricNMF(2).fit(karate.adjacency)
network = plot.communities(karate.adjacency, model.membership_, labels=model.labels_)

# %%
# All but one member are found on their side of the later split.

agree = (model.labels_ == karate.target).sum()
print(max(agree, len(karate.target) - agree), "of", len(karate.target))
