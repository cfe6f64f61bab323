"""What `import partwise` offers. Models are named in `partwise/models/__init__.pyi`, once."""

from partwise import datasets as datasets
from partwise import domains as domains
from partwise import graphs as graphs
from partwise import losses as losses
from partwise import plot as plot
from partwise import priors as priors
from partwise import reporting as reporting
from partwise import topics as topics
from partwise._version import __version__ as __version__
from partwise.comparison import compare as compare
from partwise.models import *  # noqa: F403
from partwise.parallel import get_threads as get_threads
from partwise.parallel import set_threads as set_threads
from partwise.parallel import thread_limit as thread_limit
from partwise.priors import ARD as ARD
from partwise.reporting import report as report
from partwise.topics import TopicTree as TopicTree
