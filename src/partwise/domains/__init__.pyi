"""Raw data of one kind and the matrix that is factorized: a new function is one line here."""

from partwise.domains.annotated import layer_of as layer_of
from partwise.domains.annotated import store as store
from partwise.domains.annotated import store_file as store_file
from partwise.domains.graph_files import Graph as Graph
from partwise.domains.graph_files import graph_of as graph_of
from partwise.domains.graph_files import node_labels as node_labels
from partwise.domains.graph_files import read_graph as read_graph
from partwise.domains.image import DeslantCrop as DeslantCrop
from partwise.domains.networks import activations as activations
from partwise.domains.networks import with_activations as with_activations
from partwise.domains.pictures import Pictures as Pictures
from partwise.domains.pictures import picture_image as picture_image
from partwise.domains.pictures import read_pictures as read_pictures
from partwise.domains.text import document_term_matrix as document_term_matrix
from partwise.domains.text import leading_words as leading_words
from partwise.domains.text import make_vectorizer as make_vectorizer
from partwise.domains.text_files import read_documents as read_documents
from partwise.domains.text_measures import near_duplicates as near_duplicates
from partwise.domains.text_measures import npmi_coherence as npmi_coherence
from partwise.domains.text_measures import topic_diversity as topic_diversity
from partwise.domains.text_measures import umass_coherence as umass_coherence
