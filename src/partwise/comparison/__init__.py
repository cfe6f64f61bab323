"""NMF beside other factorizations of the same data: methods, measures, and `compare`.

methods.py, the registry of methods; measures.py and label_measures.py, what is measured; comparing.py, `compare`;
result.py, what it returns.
"""

from partwise.comparison.comparing import compare
from partwise.comparison.factors import Factors
from partwise.comparison.label_measures import argmax_nmi, class_accuracy, cluster_nmi
from partwise.comparison.measures import hoyer, matched, mean_sparseness, relative_error, stability
from partwise.comparison.methods import METHODS, Method, register_method
from partwise.comparison.result import MEASURES, Comparison

__all__ = [
    "MEASURES",
    "METHODS",
    "Comparison",
    "Factors",
    "Method",
    "argmax_nmi",
    "class_accuracy",
    "cluster_nmi",
    "compare",
    "hoyer",
    "matched",
    "mean_sparseness",
    "register_method",
    "relative_error",
    "stability",
]
