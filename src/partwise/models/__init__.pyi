"""The public estimators: a new model is one file, and one line here."""

from partwise.io import load as load
from partwise.io import save as save
from partwise.models.bayesian_boolean import BayesianBooleanMF as BayesianBooleanMF
from partwise.models.bayesian_nmf import BayesianNMF as BayesianNMF
from partwise.models.binary import BinaryNMF as BinaryNMF
from partwise.models.boolean import BooleanMF as BooleanMF
from partwise.models.deep import DeepNMF as DeepNMF
from partwise.models.function import non_negative_factorization as non_negative_factorization
from partwise.models.graph import GraphNMF as GraphNMF
from partwise.models.manifold import ManifoldNMF as ManifoldNMF
from partwise.models.mixture import MixtureClassifier as MixtureClassifier
from partwise.models.nmf import NMF as NMF
from partwise.models.semi import SemiNMF as SemiNMF
from partwise.models.semisupervised import SemiSupervisedNMF as SemiSupervisedNMF
from partwise.models.separation import SourceSeparation as SourceSeparation
from partwise.models.symmetric import SymmetricNMF as SymmetricNMF
from partwise.models.topics import TopicModel as TopicModel
