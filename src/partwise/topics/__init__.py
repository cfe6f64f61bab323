"""Trees of topics: which topics of a fitted model belong together, and what they have in common."""

from partwise.topics.measures import dendrogram_purity, sibling_agreement
from partwise.topics.nodes import Node
from partwise.topics.shades import SCALES, importance_power, importance_shades, importance_text
from partwise.topics.tree import TopicTree

__all__ = [
    "SCALES",
    "Node",
    "TopicTree",
    "dendrogram_purity",
    "importance_power",
    "importance_shades",
    "importance_text",
    "sibling_agreement",
]
