"""The coding of answers on the command line: alike in every verb, kept in the model file, used on new data."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from calling import call

from partwise import NMF, BayesianBooleanMF, BinaryNMF, BooleanMF, MixtureClassifier, load, save
from partwise.io import Coding, read

NAMES = ("tea", "cake", "salad", "soup")


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    return (rng.random((24, 2)) < 0.5).astype(int).repeat(2, axis=1)


def lines(answers, yes, no, group, start=700):
    """A survey with numbers of persons in front and, behind, a group that is told by the first answer."""
    yield ",".join(["wer", *NAMES, "group"])
    for i, row in enumerate(answers):
        told = group[row[0]]
        yield ",".join([str(start - 3 * i), *(yes if cell else no for cell in row), told])


def write(path, answers, yes="ja", no="nein", group=("no", "yes"), **more):
    path.write_text("\n".join(lines(answers, yes, no, group, **more)))
    return path


@pytest.mark.parametrize(("yes", "no"), [("ja", "nein"), ("x", ""), ("1", "2"), ("1", "0")])
def test_verbs_read_answers_and_persons_as_tiles_does(answers, yes, no, tmp_path, capsys):
    path = write(tmp_path / "a.csv", answers, yes, no)
    few = ("-o", tmp_path / "o", "-q", "--no-report")
    verbs = [
        ("classify", path, "--labels", "group", "-k", "0", "--mixtures", "1"),
        ("fit", path, "--model", "binary", "-k", "1", "--drop", "group", "--max-iter", "3"),
        ("fit", path, "-k", "1", "--drop", "group"),
    ]
    for verb in verbs if yes == "ja" else verbs[:1]:
        assert call(*verb, *few) == 0
        said = capsys.readouterr().err
        assert "'wer' names the rows" in said
        assert ("were read as yes and no" in said) == (no != "0")
        summary = json.loads((tmp_path / "o" / "summary.json").read_text())
        assert summary["n_features"] == 4
        # Labels stay the words that they are.
        assert summary.get("classes", ["no", "yes"]) == ["no", "yes"]
    assert (
        call("compare", path, "-k", "1", "--labels", "group", "--methods", "svd", "-q", "-o", tmp_path / "c")
        == 0
    )
    assert "24 × 4" in capsys.readouterr().out


def test_predict_and_transform_read_as_the_fit_did(answers, tmp_path, capsys):
    path = write(tmp_path / "a.csv", answers, "2", "1")
    text = path.read_text().splitlines()
    text[3] = text[3].replace("," + text[3].split(",")[1], ",99", 1)
    path.write_text("\n".join(text))
    given = ("--yes", "2", "--no", "1", "--missing", "99", "-o", tmp_path / "o", "-q")
    assert call("classify", path, "--labels", "group", "-k", "2", "--mixtures", "1", *given) == 0
    assert "valid feature names" not in capsys.readouterr().err
    model = tmp_path / "o" / "model.partwise"
    assert Coding.of(load(model)).described() == "yes is 2, no is 1, 99 is missing; --id wer"
    assert call("info", model) == 0
    assert "data read with: yes is 2, no is 1, 99 is missing" in capsys.readouterr().out
    # Two rows, with persons 1 and 2 and a column that the model does not know.
    new = tmp_path / "new.csv"
    new.write_text("soup,extra,tea,salad,cake,wer\n1,1,2,1,2,1\n2,2,1,2,1,2\n")
    assert call("predict", model, new) == 0
    out, said = capsys.readouterr()
    assert [line.split(",")[:2] for line in out.splitlines()[1:]] == [["1", "yes"], ["2", "no"]]
    assert "read as the data of the fit were: yes is 2, no is 1, 99 is missing" in said
    assert "unknown to the model left out: 'extra'" in said
    assert call("predict", model, new, "--yes", "1", "--no", "2") == 0
    out, said = capsys.readouterr()
    assert [line.split(",")[1] for line in out.splitlines()[1:]] == ["no", "yes"]
    assert "but for what is given now: --yes 1 --no 2" in said
    new.write_text("soup,tea,salad,cake\n1,2,1,2\n2,1,0,1\n")
    assert call("transform", model, new) == 2
    assert "column 'salad' holds '0' in row 3" in capsys.readouterr().err


def test_columns_that_a_model_of_python_does_not_know_are_not_judged(answers, tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    save(BooleanMF(2, max_iter=20).fit(pd.DataFrame(answers, columns=NAMES)), tmp_path / "m.partwise")
    new = tmp_path / "new.csv"
    new.write_text("who,maybe,soup,tea,salad,cake\n1,2,ja,ja,nein,ja\n2,maybe,nein,ja,nein,ja\n")
    assert call("transform", tmp_path / "m.partwise", new) == 0
    said = capsys.readouterr().err
    assert "2 columns unknown to the model left out: 'who' and 'maybe'" in said
    assert "were read as yes and no" in said


def test_a_test_file_is_read_as_the_training_file(answers, tmp_path, capsys):
    path = write(tmp_path / "a.csv", answers)
    new = tmp_path / "new.csv"
    new.write_text("wer,tea,cake,salad,soup\n1,ja,ja,ja,ja\n2,ja,ja,ja,ja\n")
    few = ("-k", "0", "--mixtures", "1", "-q", "--no-report", "-o", tmp_path / "o")
    assert call("classify", path, "--labels", "group", "--test", new, *few) == 0
    found = read(tmp_path / "o" / "predictions.csv", row_names=True)
    assert found.row_names == ["1", "2"]
    assert (found.data[:, 1] > 0.5).all()


def test_a_column_to_leave_out_need_not_be_in_the_test_file(answers, tmp_path, capsys):
    path = write(tmp_path / "a.csv", answers)
    new = tmp_path / "new.csv"
    new.write_text("wer,tea,cake,soup\n1,ja,ja,ja\n2,nein,nein,ja\n")
    few = ("-k", "0", "--mixtures", "1", "-q", "--no-report", "-o", tmp_path / "o")
    assert call("classify", path, "--labels", "group", "--drop", "salad", "--test", new, *few) == 0
    found = read(tmp_path / "o" / "predictions.csv", row_names=True)
    assert found.data.argmax(axis=1).tolist() == [1, 0]
    assert call("predict", tmp_path / "o" / "model.partwise", new, "--drop", "salad", "-q") == 0


def test_layers_encodings_and_transposed_files_are_kept(tmp_path, capsys):
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    counts = rng.random((9, 4))
    cells = anndata.AnnData(np.ones((9, 4)), layers={"counts": counts})
    cells.write_h5ad(tmp_path / "a.h5ad")
    few = ("-k", "2", "-q", "--no-report")
    assert call("fit", tmp_path / "a.h5ad", "--key", "counts", "-o", tmp_path / "o", *few) == 0
    capsys.readouterr()
    assert (
        call("transform", tmp_path / "o" / "model.partwise", tmp_path / "a.h5ad", "-o", tmp_path / "W.csv")
        == 0
    )
    np.testing.assert_allclose(
        read(tmp_path / "W.csv").data, read(tmp_path / "o" / "W.csv").data, rtol=1e-3, atol=1e-4
    )
    assert "--key counts" in capsys.readouterr().err
    genes = tmp_path / "genes.csv"
    table = [";".join(["Gen", *(f"Müller {i}" for i in range(9))])]
    table += [";".join([f"g{j}", *(f"{v:.3f}".replace(".", ",") for v in counts[:, j])]) for j in range(4)]
    genes.write_text("\n".join(table), encoding="latin-1")
    given = ("--transpose", "--encoding", "latin-1", "--decimal", ",")
    assert call("fit", genes, "-o", tmp_path / "t", *few, *given) == 0
    assert "transposed: 9 columns of the file are the samples" in capsys.readouterr().err
    assert call("transform", tmp_path / "t" / "model.partwise", genes, "-o", tmp_path / "W.csv") == 0
    assert "--encoding latin-1 --decimal , --transpose" in capsys.readouterr().err
    again, W = read(tmp_path / "W.csv"), read(tmp_path / "t" / "W.csv")
    assert again.row_names == W.row_names == [f"Müller {i}" for i in range(9)]
    np.testing.assert_allclose(again.data, W.data, rtol=1e-3, atol=1e-4)


def test_files_are_read_the_way_round_that_has_the_names(tmp_path, capsys):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    counts = np.random.default_rng(0).random((9, 4)).round(3)
    cells = pd.DataFrame(counts, [f"c{i}" for i in range(9)], [f"g{j}" for j in range(4)])
    cells.to_csv(tmp_path / "cells.csv")
    cells.T.to_csv(tmp_path / "genes.csv")
    anndata.AnnData(cells, layers={"counts": counts}).write_h5ad(tmp_path / "cells.h5ad")
    few = ("-k", "2", "-q", "--no-report")
    turned, plain, h5ad = (tmp_path / name / "model.partwise" for name in ("turned", "plain", "h5ad"))
    assert call("fit", tmp_path / "genes.csv", "--transpose", "-o", turned.parent, *few) == 0
    assert call("fit", tmp_path / "cells.csv", "-o", plain.parent, *few) == 0
    assert (
        call("fit", tmp_path / "cells.h5ad", "--transpose", "--key", "counts", "-o", h5ad.parent, *few) == 0
    )
    W = read(turned.parent / "W.csv")
    capsys.readouterr()
    for name, said in (
        ("cells.h5ad", ""),
        ("cells.csv", "not transposed as the data of the fit were"),
        ("genes.csv", "4 columns of the file"),
    ):
        assert call("transform", turned, tmp_path / name, "-o", tmp_path / "W.csv") == 0, name
        assert said.replace("4", "9") in capsys.readouterr().err
        found = read(tmp_path / "W.csv")
        assert found.row_names == W.row_names
        np.testing.assert_allclose(found.data, W.data, rtol=1e-3, atol=1e-4)
    for name in ("cells.h5ad", "cells.csv"):
        assert call("transform", h5ad, tmp_path / name, "-o", tmp_path / "W.csv") == 0, name
        assert read(tmp_path / "W.csv").row_names == ["g0", "g1", "g2", "g3"]
        # A layer is not said of a table of text.
        assert ("--key counts" in capsys.readouterr().err) == (name == "cells.h5ad")
    assert call("transform", plain, tmp_path / "genes.csv") == 2
    assert "Its rows have these names: add --transpose." in capsys.readouterr().err
    assert call("transform", plain, tmp_path / "genes.csv", "--transpose") == 0


@pytest.mark.parametrize("given", [("gene",), ("rpt", "--id", "rpt")])
def test_genes_with_numbers_for_names_are_matched_by_them(tmp_path, capsys, given):
    name, *more = given
    genes, new, out = tmp_path / "genes.csv", tmp_path / "new.csv", tmp_path / "W.csv"
    genes.write_text(f"{name},a,b,c,d\n101,5,0,1,2\n205,4,1,0,9\n309,0,7,3,1\n417,1,6,2,0\n")
    new.write_text(f"{name},e,f\n417,1,0\n309,0,1\n205,4,9\n101,5,2\n")
    assert call("fit", genes, "--transpose", *more, "-k", "2", "-q", "--no-report", "-o", tmp_path / "o") == 0
    assert call("transform", tmp_path / "o" / "model.partwise", new, "-o", out) == 0
    assert "put in the order of the fit, by name" in capsys.readouterr().err
    W, found = read(tmp_path / "o" / "W.csv"), read(out)
    assert found.row_names == ["e", "f"]
    np.testing.assert_allclose(found.data, W.data[[0, 3]], rtol=1e-3, atol=1e-3)


def test_dropped_columns_are_no_samples_of_new_data(tmp_path, capsys):
    rng = np.random.default_rng(0)
    counts, out = rng.integers(0, 30, (6, 5)), tmp_path / "W.csv"
    path = tmp_path / "counts.txt"
    lines = [["Geneid", "Chr", "Start", "Strand", "Length", *(f"s{i}.bam" for i in range(5))]]
    lines += [[f"g{j}", "chrX", "100", "+", str(900 + j), *map(str, row)] for j, row in enumerate(counts)]
    path.write_text("\n".join("\t".join(line) for line in lines))
    given = ("--transpose", "--drop", "Chr,Start,Strand", "--drop", "Length")
    assert call("fit", path, *given, "-k", "2", "-q", "--no-report", "-o", tmp_path / "o") == 0
    capsys.readouterr()
    model = tmp_path / "o" / "model.partwise"
    assert call("transform", model, path, "-o", out) == 0
    assert (
        "4 columns left out as at the fit: 'Chr', 'Start', 'Strand' and 'Length'." in capsys.readouterr().err
    )
    assert read(out).row_names == [f"s{i}.bam" for i in range(5)]
    path.write_text("\n".join("\t".join([line[0], *line[4:6]]) for line in lines))
    assert call("transform", model, path, "-o", out) == 0
    assert read(out).row_names == ["s0.bam"]
    assert call("info", model) == 0
    assert "--drop Chr,Start,Strand --drop Length" in capsys.readouterr().out


def test_a_test_file_need_not_have_what_is_dropped(tmp_path, capsys):
    rng = np.random.default_rng(0)
    groups = np.arange(30) % 2
    lines = [f"{i},{rng.random() + g:.3f},{rng.random() + 1 - g:.3f},{'ab'[g]}" for i, g in enumerate(groups)]
    (tmp_path / "train.csv").write_text("batch,x,y,group\n" + "\n".join(lines) + "\n")
    rest = "\n".join(line.split(",", 1)[1] for line in lines)
    (tmp_path / "test.csv").write_text("x,y,group\n" + rest + "\n")
    given = ("--labels", "group", "--drop", "batch", "--components", "2", "-q", "-o", tmp_path / "o")
    for name in ("test.csv", "train.csv"):
        assert call("classify", tmp_path / "train.csv", "--test", tmp_path / name, *given) == 0
    assert "train.csv: 1 column left out as at the fit: 'batch'." in capsys.readouterr().err


def test_columns_of_one_name_are_told_at_the_fit(tmp_path, capsys):
    path = tmp_path / "dup.csv"
    path.write_text("a,a,b\n" + "\n".join(f"{i},{i % 3},{i % 4}" for i in range(9)))
    assert call("fit", path, "-k", "1", "-o", tmp_path / "o", "-q", "--no-report") == 0
    assert "1 column name occurs more than once: 'a'." in capsys.readouterr().err


def test_labels_that_are_hardly_classes_are_told_in_our_words(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("a,b,y\n" + "\n".join(f"{i % 5},{i % 3},{max(i - 9, 0)}" for i in range(60)) + "\n")
    options = ("-k", "0", "--mixtures", "1", "-q", "--no-report", "-o", tmp_path / "o")
    assert call("classify", path, "--labels", "y", *options) == 0
    said = capsys.readouterr().err
    assert "a class has less than two rows on average" in said
    assert "regression" not in said


def test_texts_keep_their_column_and_names(tmp_path, capsys):
    path = tmp_path / "a.csv"
    words = ["river water fish", "stone rock hill"]
    body = [f"{words[i % 2]},d{i},{words[1 - i % 2]}" for i in range(8)]
    path.write_text("\n".join(["note,id,text", *body]))
    few = ("-k", "2", "-q", "--min-df", "1", "-o", tmp_path / "o")
    assert call("topics", path, "--column", "note", *few) == 0
    assert "column 'id' names the documents" in capsys.readouterr().err
    assert read(tmp_path / "o" / "documents.csv").row_names == [f"d{i}" for i in range(8)]
    assert call("transform", tmp_path / "o" / "model.partwise", path) == 0
    out, said = capsys.readouterr()
    assert "read as the texts of the fit were: --columns note --id id" in said
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == [f"d{i}" for i in range(8)]
    W = np.array([line.split(",")[1:] for line in out.splitlines()[1:]], dtype=float)
    documents = read(tmp_path / "o" / "documents.csv").data
    np.testing.assert_array_equal(W.argmax(axis=1), documents.argmax(axis=1))


def test_missing_cells_and_recordings_are_refused_in_our_words(answers, tmp_path, capsys):
    path = write(tmp_path / "a.csv", answers)
    path.write_text(path.read_text().replace("nein", "", 1))
    assert call("classify", path, "--labels", "group", "-k", "0", "-q", "-o", tmp_path / "o") == 2
    said = capsys.readouterr().err
    assert "MixtureClassifier takes no missing entries" in said
    assert "HistGradient" not in said
    save(NMF(1).fit(answers), tmp_path / "m.partwise")
    (tmp_path / "x.wav").write_bytes(b"RIFF")
    assert call("transform", tmp_path / "m.partwise", tmp_path / "x.wav") == 2
    assert "partwise separate" in capsys.readouterr().err


def test_a_single_picture_of_another_size_says_both(tmp_path, capsys):
    Image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    (tmp_path / "p").mkdir()
    for i in range(4):
        Image.fromarray(rng.integers(0, 255, (6, 5), dtype=np.uint8)).save(tmp_path / "p" / f"{i}.png")
    assert call("parts", tmp_path / "p", "-k", "1", "-q", "-o", tmp_path / "o") == 0
    Image.new("L", (10, 12), 100).save(tmp_path / "one.png")
    capsys.readouterr()
    assert call("transform", tmp_path / "o" / "model.partwise", tmp_path / "one.png") == 0
    out, said = capsys.readouterr()
    assert "12 × 10 pixels, and was resized to 6 × 5" in said
    assert out.splitlines()[1].startswith("one.png,")


@pytest.mark.parametrize("cls", [NMF, BinaryNMF, BooleanMF, BayesianBooleanMF, MixtureClassifier])
@pytest.mark.parametrize("kind", ["list", "text", "object", "frame"])
def test_words_in_memory_are_one_sentence(cls, kind):
    X = [["ja", "nein"], ["nein", "ja"]]
    if kind == "frame":
        X = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b"])
    elif kind != "list":
        X = np.array(X, dtype=object if kind == "object" else str)
    with pytest.raises(
        ValueError, match=rf"as 'ja', and {cls.__name__} takes numbers.*read\(path, yes_no=True\)"
    ):
        cls(1).fit(X, [0, 1])


def test_a_tree_is_exported_not_saved(tmp_path):
    from partwise.topics import TopicTree

    with pytest.raises(ValueError, match=r"tree\.export\(path\)"):
        save(TopicTree.__new__(TopicTree), tmp_path / "tree.partwise")


def test_an_h5ad_with_raw_empty_genes_and_slots_of_another_fit(tmp_path, capsys):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    counts = np.random.default_rng(0).poisson(2.0, (30, 6)).astype(float)
    counts[:, 3] = 0.0
    cells = anndata.AnnData(
        sp.csr_matrix(counts), var=pd.DataFrame(index=[f"g{j}" for j in range(6)]), layers={"counts": counts}
    )
    cells.obs["sick"] = counts[:, 0] > 1
    cells.obs["some"] = pd.array([None, *(counts[1:, 0] > 1)], dtype="boolean")
    cells.raw = cells.copy()
    path, out, again = tmp_path / "a.h5ad", tmp_path / "o", tmp_path / "again"
    cells[:, [5, 1]].copy().write_h5ad(path)
    few = ("-k", 2, "--quiet", "--no-report")
    assert call("fit", path, "--key", "raw", "--missing", "zero", "-o", out, *few) == 0
    said = capsys.readouterr().err
    # Genes without any count are named and left out, and nothing else is said of them.
    assert "'g3' has no data at all, and was left out" in said
    assert "observed entry" not in said
    assert "already had" not in said
    assert json.loads((out / "summary.json").read_text())["layer"] == "raw"
    made = anndata.read_h5ad(out / "factored.h5ad")
    assert (made.uns["nmf"]["layer"], made.uns["nmf"]["seed"]) == ("raw", 0)
    H = read(out / "H.csv")
    assert H.column_names == ["g0", "g1", "g2", "g4", "g5"]
    np.testing.assert_allclose(made.raw.varm["nmf"][[0, 1, 2, 4, 5]], H.data.T)
    np.testing.assert_allclose(made.varm["nmf"], H.data.T[[4, 1]])
    assert not made.raw.varm["nmf"][3].any()
    assert call("fit", out / "factored.h5ad", "--key", "counts", "-o", again, *few) == 0
    words = "already had obsm['X_nmf'], varm['nmf'], uns['nmf']; in factored.h5ad they are those of this fit"
    assert words in capsys.readouterr().err
    assert json.loads((again / "summary.json").read_text())["layer"] == "counts"
    # Labels of type bool are predicted as such.
    for labels in ("sick", "some"):
        kind = ("--model", "semisupervised", "--labels", labels)
        assert call("fit", path, "--key", "raw", "-o", again, *kind, *few) == 0
        classes = load(again / "model.partwise").classes_.tolist()
        # (Beside rows without a label, they are words.)
        assert classes == ([False, True] if labels == "sick" else ["False", "True"])
    assert call("fit", path, "--key", "rw", "-o", again, *few) == 2
    assert "has no layer 'rw'. Its layers are: 'counts', and it has 'raw'" in capsys.readouterr().err
