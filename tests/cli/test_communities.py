"""partwise communities: files in, tables and a picture out."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from calling import call

from partwise import load
from partwise.datasets import load_karate
from partwise.graphs import conductance, connectivity, modularity
from partwise.io import read

CLUB = load_karate()


@pytest.fixture
def club(tmp_path):
    path = tmp_path / "club.csv"
    path.write_text("from,to\n" + "".join(f"m{i + 1},m{j + 1}\n" for i, j in CLUB.edges))
    return path


def test_the_karate_club_from_file_to_tables(club, tmp_path, capsys):
    out, labels = tmp_path / "o", tmp_path / "clubs.csv"
    labels.write_text("".join(f"m{i + 1},{CLUB.target_names[t]}\n" for i, t in enumerate(CLUB.target)))
    assert call("communities", club, "--labels", labels, "-o", out, "-q") == 0
    said = capsys.readouterr().out
    summary = json.loads((out / "summary.json").read_text())
    assert summary["n_components"] == 2
    assert summary["nmi"] > 0.8
    assert "NMI with the given groups" in said
    nodes = read(out / "nodes.csv")
    assert nodes.column_names == ["community", "share0", "share1"]
    label = nodes.data[:, 0].astype(int)
    assert np.allclose(nodes.data[:, 1:].sum(axis=1), 1, atol=1e-6)
    place = [int(name[1:]) - 1 for name in nodes.row_names]
    wrong = int((label != CLUB.target[place]).sum())
    assert min(wrong, 34 - wrong) <= 2
    A = CLUB.data[place][:, place]
    assert summary["modularity"] == pytest.approx(modularity(A, label))
    assert summary["connectivity"] == pytest.approx(connectivity(A, label))
    table = read(out / "communities.csv")
    assert table.data[:, table.column_names.index("nodes")].sum() == 34
    assert table.text["central_nodes"][0]
    assert load(out / "model.partwise").feature_names_in_[0] == nodes.row_names[0]
    if (out / "graph.png").exists():
        assert (out / "graph.png").stat().st_size > 10_000


def test_communities_name_their_own_nodes_only(tmp_path, capsys):
    rows = [f"{g}{i},{g}{j}" for g in "pqr" for i in range(6) for j in range(i)] + ["p0,q0", "q1,r1", "r2,p2"]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    assert call("communities", tmp_path / "a.csv", "-k", 3, "-o", tmp_path / "o", "-q") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  group")]
    named = [line.split(": ")[1].split(", ") for line in lines]
    assert sorted(sorted(names) for names in named) == [[f"{g}{i}" for i in range(6)] for g in "pqr"]
    assert all(", 6 nodes" in line for line in lines)


def test_new_nodes_by_their_edges(club, tmp_path):
    out = tmp_path / "o"
    assert call("communities", club, "-k", 2, "-o", out, "-q") == 0
    names = read(out / "nodes.csv").row_names
    new = tmp_path / "new.csv"
    new.write_text(
        "," + ",".join(names) + "\nx," + ",".join("1" if n in ("m33", "m34") else "0" for n in names)
    )
    assert call("transform", out / "model.partwise", new, "-o", tmp_path / "w.csv") == 0
    label = read(out / "nodes.csv").data[names.index("m34"), 0]
    assert read(tmp_path / "w.csv").data[0].argmax() == label


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (
            "a,b\nb,c\nc,a\nd,d\nx,y\n",
            0,
            "is not connected: 3 pieces, the largest with 3 of 6 nodes, 1 node without",
        ),
        ("a,b,-1\nb,c,1\n", 0, "negative weight"),
        ("a,a\n", 2, "has no edges"),
        ("a\nb\n", 2, "a list of nodes"),
        ("", 2, "is empty"),
    ],
)
def test_bad_networks_get_a_sentence_and_the_run_goes_on_where_it_can(tmp_path, capsys, text, code, said):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert call("communities", path, "-o", tmp_path / "o", "-q") == code
    assert said in capsys.readouterr().err
    assert (tmp_path / "o" / "nodes.csv").exists() == (code == 0)


def test_directed_edges_and_json(tmp_path, capsys):
    path = tmp_path / "a.csv"
    rng = np.random.default_rng(0)
    path.write_text("".join(f"{i},{j}\n" for i, j in rng.integers(0, 20, (80, 2)) if i != j))
    assert call("communities", path, "-k", 2, "--directed", "--json", "-q", "-o", tmp_path / "o") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["directed"]
    assert summary["kind"] == "symmetric"
    assert call("communities", path, "-k", "some", "-o", tmp_path / "o") == 2


def test_conductance_by_hand():
    A = np.zeros((7, 7))
    for i, j, w in [(0, 1, 1), (1, 2, 2), (0, 2, 1), (3, 4, 1), (4, 5, 1), (2, 3, 3)]:
        A[i, j] = A[j, i] = w
    found = conductance(sp.csr_matrix(A), [0, 0, 0, 1, 1, 1, -1])
    assert found["nodes"].tolist() == [3, 3]
    assert found["edges"].tolist() == [3, 2]
    assert found["weight"].tolist() == [4, 2]
    assert found["edges_out"].tolist() == [1, 1]
    assert found["density"] == pytest.approx([1, 2 / 3])
    assert found["conductance"] == pytest.approx([3 / 7, 3 / 7])
    alone = conductance(A, [0] * 7)
    assert alone["conductance"].tolist() == [0]
