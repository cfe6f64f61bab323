"""Graphs whose nodes have names are matched by them: with the data, and rows with columns."""

import json

import numpy as np
import pandas as pd
import pytest
from calling import call
from sklearn.metrics import adjusted_rand_score

from partwise import SymmetricNMF
from partwise.domains import read_graph
from partwise.io import DataError, read

N = 60
GROUP = np.repeat([0, 1, 2], N // 3)
NAMES = [f"k{i}" for i in range(N)]
#: A weight that is chosen takes dozens of fits.
QUICK = ("--set", "graph_weight=0.3", "--no-report", "-q")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((N, N)) < np.where(GROUP[:, None] == GROUP, 0.4, 0.02), 1).astype(int)
    return pd.DataFrame(A + A.T, NAMES, NAMES)


@pytest.fixture
def folder(tmp_path, monkeypatch, frame):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    X = rng.poisson(np.full((3, 12), 0.3)[GROUP] + np.repeat(np.eye(3), 4, 1)[GROUP])
    pd.DataFrame(X, NAMES, [f"w{j}" for j in range(12)]).to_csv("X.csv")
    frame.to_csv("ok.csv")
    return tmp_path


@pytest.fixture
def mixed():
    return np.random.default_rng(2).permutation(N)


def weights(folder):
    return read(f"{folder}/W.csv").data


@pytest.mark.parametrize("model", [["graph"], ["manifold", "--labels", "y.txt"], ["deep", "--layers", "6,3"]])
def test_the_graph_of_a_file_is_put_in_the_order_of_the_data(folder, frame, mixed, model, capsys):
    (folder / "y.txt").write_text("".join(f"g{g}\n" for g in GROUP))
    frame.iloc[mixed, mixed].to_csv("perm.csv")
    frame.iloc[mixed].to_csv("rows.csv")
    count = () if model[0] == "deep" else ("-k", 3)
    for graph in ("ok", "perm", "rows"):
        options = ("--model", *model, *count, "--graph", f"{graph}.csv", "--max-iter", 5, "-o", graph, *QUICK)
        assert call("fit", "X.csv", *options) == 0
        said = capsys.readouterr().err
        assert ("nodes were put in the order of the rows of X.csv, by name" in said) == (graph != "ok")
        assert ("columns were put in the order of its rows" in said) == (graph == "rows")
        assert np.allclose(weights("ok"), weights(graph), rtol=1e-6, atol=1e-9)


def test_further_nodes_are_left_out_and_named_and_missing_ones_refused(folder, frame, mixed, capsys):
    X = pd.read_csv("X.csv", index_col=0)
    X.iloc[:40].to_csv("few.csv")
    options = ("--model", "graph", "-k", 2, "--max-iter", 5, *QUICK)
    assert call("fit", "few.csv", *options, "--graph", "ok.csv", "-o", "all") == 0
    assert "20 nodes left out with all edges, no row of few.csv: 'k40', 'k41'" in capsys.readouterr().err
    frame.iloc[:40, :40].to_csv("sub.csv")
    assert call("fit", "few.csv", *options, "--graph", "sub.csv", "-o", "sub") == 0
    assert np.allclose(weights("all"), weights("sub"))
    capsys.readouterr()
    assert call("fit", "X.csv", *options, "--graph", "sub.csv", "-o", "none") == 2
    assert "sub.csv has no node 'k40', which is a row of X.csv" in capsys.readouterr().err
    frame.rename({"k7": "K7"}, axis=0).rename({"k7": "K7"}, axis=1).to_csv("other.csv")
    assert call("fit", "X.csv", *options, "--graph", "other.csv", "-o", "none") == 2
    assert "other.csv has no node 'k7'" in capsys.readouterr().err


def test_without_names_on_a_side_the_graph_is_taken_by_position_and_that_is_said(folder, frame, capsys):
    np.save("plain.npy", frame.to_numpy())
    options = ("--model", "graph", "-k", 3, "--max-iter", 5, *QUICK, "--graph")
    assert call("fit", "X.csv", *options, "ok.csv", "-o", "ok") == 0
    assert "order" not in capsys.readouterr().err
    assert call("fit", "X.csv", *options, "plain.npy", "-o", "plain") == 0
    assert "the nodes of plain.npy have no names" in capsys.readouterr().err
    np.save("X.npy", read("X.csv").data)
    assert call("fit", "X.npy", *options, "ok.csv", "-o", "npy") == 0
    assert "the rows of X.npy have no names" in capsys.readouterr().err
    pd.DataFrame(frame.to_numpy()).to_csv("counted.csv")
    assert call("fit", "X.csv", *options, "counted.csv", "-o", "counted") == 0
    for other in ("plain", "npy", "counted"):
        assert np.array_equal(weights("ok"), weights(other))


def test_a_table_with_rows_and_columns_in_different_orders_is_one_graph(folder, frame, mixed, capsys):
    frame.iloc[mixed].to_csv("rows.csv")
    assert call("communities", "rows.csv", "-k", 3, "-o", "c", "-q") == 0
    said = capsys.readouterr().err
    assert "rows.csv: its columns were put in the order of its rows, by name." in said
    assert "not symmetric" not in said
    nodes = read("c/nodes.csv")
    assert nodes.row_names == [NAMES[i] for i in mixed]
    assert adjusted_rand_score(nodes.data[:, 0], GROUP[mixed]) > 0.9
    assert call("fit", "rows.csv", "--model", "symmetric", "-k", 3, "-o", "f", "-q") == 0
    said = capsys.readouterr().err
    assert "rows.csv: its columns were put in the order of its rows, by name." in said
    assert "not symmetric" not in said
    assert adjusted_rand_score(read("f/labels.csv").data[:, 0], GROUP[mixed]) > 0.9
    assert read("f/H.csv").column_names == [NAMES[i] for i in mixed]
    assert call("transform", "f/model.partwise", "rows.csv", "-o", "again.csv") == 0
    assert np.allclose(read("again.csv").data, weights("f"), atol=1e-3)


def test_different_names_of_rows_and_columns_are_refused(folder, frame, capsys):
    frame.rename({"k5": "l5"}, axis=0).to_csv("two.csv")
    with pytest.raises(DataError, match="row 'l5' has no column of that name"):
        read_graph("two.csv")
    assert call("fit", "two.csv", "--model", "symmetric", "-k", 3) == 2
    assert "row 'l5' has no column of that name" in capsys.readouterr().err
    # R names columns that have no names V1, V2, …; pandas counts them.
    for names in ([f"V{j + 1}" for j in range(N)], range(N)):
        frame.set_axis(names, axis=1).to_csv("counted.csv")
        graph = read_graph("counted.csv")
        assert graph.names == NAMES
        assert np.array_equal(graph.adjacency.toarray(), frame.to_numpy())


def test_a_frame_is_read_by_its_names(frame, mixed):
    fitted = SymmetricNMF(3).fit(frame)
    for columns in (NAMES, [NAMES[j] for j in np.random.default_rng(3).permutation(N)]):
        shuffled = frame.iloc[mixed][columns]
        model = SymmetricNMF(3)
        W = model.fit_transform(shuffled)
        assert adjusted_rand_score(model.labels_, GROUP[mixed]) > 0.9
        assert list(model.feature_names_in_) == columns
        assert abs(model.objective_ - fitted.objective_) < 1e-3 * fitted.objective_
        # What is factored is the table as it was given, and it can be given again.
        near = np.linalg.norm(shuffled.to_numpy() - W @ model.components_)
        assert near < 1.05 * np.linalg.norm(frame.to_numpy() - fitted.components_.T @ fitted.components_)
        assert np.allclose(model.transform(shuffled), W, atol=1e-2)
    with pytest.raises(ValueError, match="row 'z' has no column of that name"):
        SymmetricNMF(3).fit(frame.rename({"k3": "z"}, axis=0))
    for plain in (frame.reset_index(drop=True), frame.set_axis(range(N), axis=1)):
        assert np.array_equal(SymmetricNMF(3).fit(plain).labels_, fitted.labels_)


def test_nodes_named_twice_are_named_where_they_cannot_be_matched(frame, mixed, tmp_path):
    twice = frame.iloc[mixed].rename({"k1": "k0"}, axis=0).rename({"k1": "k0"}, axis=1)
    twice.to_csv(tmp_path / "twice.csv")
    with pytest.raises(DataError, match="'k0' occurs more than once"):
        read_graph(tmp_path / "twice.csv")


def test_the_summary_of_a_shuffled_graph_names_its_nodes(folder, frame, mixed):
    frame.iloc[mixed].to_csv("rows.csv")
    assert call("fit", "rows.csv", "--model", "symmetric", "-k", 3, "-o", "f", "-q") == 0
    for part in json.loads((folder / "f" / "summary.json").read_text())["parts"]:
        groups = [GROUP[NAMES.index(feature["name"])] for feature in part["top_features"]]
        assert len(set(groups)) == 1


@pytest.mark.parametrize("edges", ["source,target\na,b\nb,c\n", "0,1\n1,2\n2,0\n", "a b 2\nb c 1\n"])
def test_a_list_of_edges_is_called_one(edges, frame, folder, tmp_path, capsys):
    (tmp_path / "edges.csv").write_text(edges)
    data = tmp_path / "x.csv"
    frame.to_csv(data)
    given = ["--model", "graph", "-k", 2, "--graph", tmp_path / "edges.csv", "-o", tmp_path / "o", "-q"]
    assert call("fit", data, *given) == 2
    assert "edges.csv is a list of edges, and --graph takes a square table" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("none.csv", "none.csv: no such file"), ("folder.csv", "folder"), ("empty.csv", "empty")],
)
def test_what_is_no_graph_at_all_is_not_called_a_list_of_edges(name, sentence, folder, capsys):
    (folder / "folder.csv").mkdir()
    (folder / "empty.csv").write_text("")
    assert call("fit", "X.csv", "--model", "graph", "-k", 2, "--graph", name, "-o", "o", "-q") == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert "list of edges" not in said
    assert "Errno" not in said
