"""How X is seen: dense, sparse, weighted, or by row blocks; always through the same few products."""

from partwise.matrix.base import InMemory, Matrix, RowSlab
from partwise.matrix.blocks import RowBlocks
from partwise.matrix.dense import Dense
from partwise.matrix.joined import Joined
from partwise.matrix.sparse import Sparse

__all__ = ["Dense", "InMemory", "Joined", "Matrix", "RowBlocks", "RowSlab", "Sparse"]
