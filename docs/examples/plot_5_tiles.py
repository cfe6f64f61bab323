"""
Tiles of a yes/no table
=======================

Which of 17 properties a hundred animals have, as the OR of five overlapping tiles.
"""

from partwise import BooleanMF, plot
from partwise.datasets import load_zoo

zoo = load_zoo()
model = BooleanMF(5, random_state=0, max_iter=3000).fit(zoo.data)
tiles = plot.tiles(model, zoo.data, row_names=zoo.sample_names, feature_names=zoo.feature_names)

# %%
# What each tile says, and how many animals are in it:

for tile, rows in zip(model.components_, model.tiles_["rows"]):
    print(rows, ", ".join(zoo.feature_names[j] for j in tile.nonzero()[0]))
