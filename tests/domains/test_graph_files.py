"""Networks from files: every format gives the same graph, and whatever is wrong is said."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.io import mmwrite

from partwise.datasets import load_karate
from partwise.domains import Graph, graph_of, node_labels, read_graph
from partwise.io import DataError

CLUB = load_karate()


def written(path, text):
    path.write_text(text)
    return path


def lines(mark, weights=None, head=""):
    rows = [f"{i + 1}{mark}{j + 1}" for i, j in CLUB.edges]
    if weights is not None:
        rows = [f"{row}{mark}{w}" for row, w in zip(rows, weights)]
    return head + "\n".join(rows) + "\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", lines(",")),
        ("a.csv", lines(",", head="source,target\n")),
        ("a.csv", lines(";", [1] * 78, "from;to;weight\n")),
        ("a.tsv", lines("\t")),
        ("a.txt", lines(" ", head="# a comment\n% and another\n\n")),
        ("a.edges", lines("  ").replace("\n", "\r\n")),
        ("a.edgelist", "".join(f"{i + 1} {j + 1} {{}}\n" for i, j in CLUB.edges)),
        ("a.csv", lines(",") + "".join(f"{j + 1},{i + 1}\n" for i, j in CLUB.edges)),
    ],
)
def test_every_edge_list_is_the_same_graph(tmp_path, name, text):
    graph = read_graph(written(tmp_path / name, text))
    assert graph.names == list(CLUB.names)
    assert abs(graph.adjacency - CLUB.data).nnz == 0
    assert (graph.n_edges, graph.weighted, graph.directed) == (78, False, False)


def test_compressed_files_matrices_and_arrays_too(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(lines(" ").encode()))
    mmwrite(tmp_path / "a.mtx", sp.coo_matrix(CLUB.data))
    sp.save_npz(tmp_path / "a.npz", sp.csr_matrix(CLUB.data))
    np.savez(tmp_path / "e.npz", edges=CLUB.edges, n=34, names=CLUB.names, y=CLUB.target)
    header = "," + ",".join(CLUB.names) + "\n"
    body = "".join(f"{n}," + ",".join(map(str, r)) + "\n" for n, r in zip(CLUB.names, CLUB.data.toarray()))
    written(tmp_path / "t.csv", header + body)
    for name in ("a.txt.gz", "a.mtx", "a.npz", "e.npz", "t.csv"):
        graph = read_graph(tmp_path / name)
        assert abs(graph.adjacency - CLUB.data).nnz == 0, name
    assert read_graph(tmp_path / "a.mtx").names[0] == "1"
    assert read_graph(tmp_path / "e.npz").attributes == {"y": [str(y) for y in CLUB.target]}
    assert read_graph(tmp_path / "t.csv").names == list(CLUB.names)


def test_gml_and_graphml_with_what_they_say_of_nodes(tmp_path):
    networkx = pytest.importorskip("networkx")
    G = networkx.Graph()
    for i in range(34):
        G.add_node(i + 1, club=str(CLUB.target_names[CLUB.target[i]]))
    G.add_edges_from((CLUB.edges + 1).tolist())
    networkx.write_gml(G, tmp_path / "a.gml")
    networkx.write_graphml(G, tmp_path / "a.graphml")
    for graph in (read_graph(tmp_path / "a.gml"), read_graph(tmp_path / "a.graphml"), graph_of(G)):
        assert graph.names == list(CLUB.names)
        assert abs(graph.adjacency - CLUB.data).nnz == 0
        assert node_labels(graph, "club").tolist() == CLUB.target_names[CLUB.target].tolist()


def test_gml_with_an_edge_twice_and_nodes_without_labels(tmp_path):
    pytest.importorskip("networkx")
    nodes = "".join(f"  node [ id {i} ]\n" for i in range(3))
    edges = "".join(f"  edge [ source {i} target {j} ]\n" for i, j in [(0, 1), (0, 1), (1, 2)])
    graph = read_graph(written(tmp_path / "a.gml", f"graph [\n{nodes}{edges}]\n"))
    assert graph.names == ["0", "1", "2"]
    assert graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    assert "1 edge was listed before; weights were summed" in graph.notes[0]


def test_networkx_is_named_where_it_is_missing(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(DataError, match=r'needs networkx: pip install "partwise\[graphs\]"'):
        read_graph(written(tmp_path / "a.gml", "graph []"))
    assert read_graph(written(tmp_path / "a.csv", "a,b\n")).n_edges == 1


@given(
    edges=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 5)), min_size=1),
    directed=st.booleans(),
)
@settings(max_examples=60)
def test_weights_are_summed_as_by_hand(tmp_path_factory, edges, directed):
    path = tmp_path_factory.mktemp("g") / "a.csv"
    written(path, "from,to,weight\n" + "".join(f"n{i},n{j},{w}\n" for i, j, w in edges))
    summed = np.zeros((7, 7))
    for i, j, w in edges:
        summed[i, j] += w * (i != j)
    if not directed and not np.array_equal(summed, summed.T):
        summed = summed + summed.T
    if not summed.any():
        with pytest.raises(DataError, match="has no edges"):
            read_graph(path, directed=directed)
        return
    graph = read_graph(path, directed=directed)
    place = [int(name[1:]) for name in graph.names]
    assert np.array_equal(graph.adjacency.toarray(), summed[np.ix_(place, place)])
    assert set(place) == {i for i, _, _ in edges} | {j for _, j, _ in edges}


def test_weights_by_name_by_number_by_chance_and_none(tmp_path):
    path = written(tmp_path / "a.csv", "from,to,year,strength\na,b,1999,2\nb,c,2000,3\n")
    graph = read_graph(path)
    assert graph.adjacency.sum() == 10
    assert any("column 'year' left out" in note for note in graph.notes)
    assert read_graph(path, weights="year").adjacency.sum() == 2 * 3999
    assert read_graph(path, weights="none").adjacency.sum() == 4
    assert read_graph(path, weights="3").adjacency.sum() == 2 * 3999
    third = read_graph(written(tmp_path / "b.txt", "a b 2\nb c 3\n"))
    assert third.adjacency.sum() == 10
    assert "third column is read as weights" in third.notes[0]
    assert read_graph(path, columns=["to", "year"]).names == ["b", "1999", "c", "2000"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,a\na,b\n", "1 edge from a node to itself"),
        ("x,y,-1\ny,z,2\n", "1 edge with a negative weight"),
        ("x,y,nan\ny,z,2\n", "1 edge without a finite weight"),
        ("x,y,0\ny,z,2\n", "1 edge of weight zero"),
        ("a,b\nb,a\nb,c\n", "1 edge was listed before; weights were summed"),
        ("a,b\n,c\nb,c\n", "1 line without one of the two nodes"),
        ("ann,bob\ncarl,dora\ndora,eve\n", "is taken as an edge; if it names columns, add --header"),
    ],
)
def test_what_is_left_out_or_summed_is_said(tmp_path, text, said):
    graph = read_graph(written(tmp_path / "a.csv", text))
    assert any(said in note for note in graph.notes), graph.notes
    assert graph.adjacency.diagonal().sum() == 0
    assert graph.adjacency.data.min() > 0


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "", "is empty. Give an edge a line"),
        ("a.txt", "a\nb\n", "a list of nodes, without edges"),
        ("a.csv", "a,a\n", "has no edges"),
        ("a.csv", "a,b,1\nb,c\nc,d,2\n", "has 2 cells where others have 3"),
        ("a.csv", "from,to,weight\na,b,much\nb,c,2\n", "'much' is no weight of an edge"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 1\n", "2 rows and 3 columns"),
        ("a.csv", "1,2,3,4,5\n6,7,8,9,10\n", "2 rows and 5 columns"),
        ("a.gml", "graph [ node", "is not a readable .gml file"),
        ("a.graphml", "<x", "is not a readable .graphml file"),
        ("a.docx", "x", "networks are read from"),
        ("a.txt", "a b {'weight': 1}\na c\n", "a.txt"),
    ],
)
def test_bad_files_get_a_sentence(tmp_path, name, text, said):
    if name.endswith(("gml", "graphml")):
        pytest.importorskip("networkx")
    with pytest.raises(DataError) as error:
        read_graph(written(tmp_path / name, text))
    assert said in str(error.value)


@given(st.binary(max_size=60))
@example(b'"a,b\n')
@example(b"a b\n{")
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_a_graph_or_an_error_that_names_the_file(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("any")
    for name in ("any.csv", "any.txt", "any.edges"):
        (folder / name).write_bytes(content)
        try:
            graph, said = read_graph(folder / name), ""
        except DataError as error:
            graph, said = None, str(error)
        if graph is None:
            assert name in said
            continue
        assert isinstance(graph, Graph)
        assert graph.adjacency.shape == (len(graph.names),) * 2
        assert graph.n_edges


def test_what_reading_may_take_is_limited(tmp_path, monkeypatch):
    path = written(tmp_path / "a.txt", "".join(f"{i} {i + 1}\n" for i in range(20000)))
    monkeypatch.setenv("PARTWISE_MAX_BYTES", "100K")
    with pytest.raises(DataError, match="PARTWISE_MAX_BYTES"):
        read_graph(path)


def test_labels_by_attribute_by_name_and_by_order(tmp_path):
    graph = read_graph(written(tmp_path / "a.csv", "a,b\nb,c\n"))
    by_name = written(tmp_path / "l.csv", "c,red\na,blue\nz,red\n")
    assert node_labels(graph, str(by_name)).tolist() == ["blue", None, "red"]
    in_order = written(tmp_path / "o.txt", "1\n2\n2\n")
    assert node_labels(graph, str(in_order)).tolist() == ["1", "2", "2"]
    for text, said in (("1\n2\n", "has 2 labels, but the network has 3 nodes"), ("x,1\ny,2\n", "names none")):
        with pytest.raises(DataError, match=said):
            node_labels(graph, str(written(tmp_path / "w.txt", text)))
    with pytest.raises(DataError, match="neither a file nor what"):
        node_labels(graph, "club")


def test_further_columns_of_text_are_not_passed_over_in_silence(tmp_path):
    path = tmp_path / "letters.csv"
    path.write_text("datum,von,an\n1800-01-01,Anna,Bert\n1800-02-01,Bert,Carl\n1800-03-01,Carl,Anna\n")
    assert any("--columns A,B" in note for note in read_graph(path).notes)
    named = read_graph(path, columns=["von", "an"])
    assert sorted(named.names) == ["Anna", "Bert", "Carl"]
    assert named.adjacency.nnz == 6


def test_weights_with_decimal_commas_and_under_other_names(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("from;to;years\na;b;1,5\nb;c;2\n")
    unread = read_graph(path)
    assert unread.adjacency.sum() == 4
    assert "add --weights years" in unread.notes[0]
    assert read_graph(path, weights="years", decimal=",").adjacency.sum() == 7
    with pytest.raises(DataError, match=r"'1,5' is no weight of an edge \(near line 2\). Add --decimal ,"):
        read_graph(path, weights="years")
    path.write_text("a;b;w\nu;v;1.234\nv;w;1.000,5\n")
    assert read_graph(path, decimal=",").adjacency.sum() == 2 * 2234.5
    path.write_text("a;b;w\nu;v;1,5\nv;w;12.5\n")
    with pytest.raises(DataError, match=r"holds the weight '12.5'.*\(near line 3\).*add --decimal \."):
        read_graph(path, decimal=",")
    with pytest.raises(DataError, match="the mark before decimals"):
        read_graph(path, decimal="x")
    # Without a header, the third column is found to hold numbers.
    path.write_text("a;b;1,5\nb;c;2\n")
    assert read_graph(path, decimal=",").adjacency.sum() == 7


def test_edges_between_semicolons_with_decimal_commas_lead_to_the_option(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("von;nach;gewicht\na;b;1,5\nb;c;1,5\na;c;2,5\n", encoding="utf-8")
    with pytest.raises(ValueError, match="decimal"):
        read_graph(path)
    graph = read_graph(path, decimal=",")
    assert graph.adjacency.sum() == pytest.approx(11.0)


def test_numbers_of_edges_are_no_nodes_where_columns_are_named(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("id,von,nach\n1,a,b\n2,b,c\n3,a,c\n", encoding="utf-8")
    assert list(read_graph(path).names) == ["a", "b", "c"]


def test_whole_numbers_with_a_point_are_the_same_nodes(tmp_path):
    """As pandas writes a column of numbers in which a cell is empty."""
    (tmp_path / "points.csv").write_text("from,to,id\n1,2.0,5\n2,3.0,6\n10,,7\n1,10.0,8\n")
    found = read_graph(tmp_path / "points.csv")
    assert found.names == ["1", "2", "3", "10"]
    assert any("1 line without one of the two nodes was left out" in note for note in found.notes)
    assert not any("--weights" in note for note in found.notes)
    (tmp_path / "versions.csv").write_text("a,b\n1.0,1.5\n1.5,2.0\n2.0,1\n")
    assert set(read_graph(tmp_path / "versions.csv").names) == {"1.0", "1.5", "2.0", "1"}
