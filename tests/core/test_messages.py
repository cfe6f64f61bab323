"""Messages are records for programs and lines for people, and can be silenced."""

import logging

import numpy as np
import pytest

from partwise import NMF, messages
from partwise.cli import main


@pytest.fixture
def terminal(monkeypatch, capsys):
    """A stderr that people look at; returns a function that reads what it shows."""
    monkeypatch.setattr(messages, "for_people", lambda: True)
    return lambda: capsys.readouterr().err


@pytest.fixture
def alone(monkeypatch):
    """No program listens; the test runner would."""
    monkeypatch.setattr(messages, "others_listen", lambda: False)


def test_people_on_a_terminal_see_lines(alone, terminal):
    messages.inform("something")
    assert terminal() == "partwise: something\n"


def test_a_file_gets_no_lines(alone, capsys):
    messages.inform("something")
    assert capsys.readouterr().err == ""


def test_programs_get_records_and_no_lines(terminal, caplog):
    with caplog.at_level(logging.INFO, "partwise"):
        messages.inform("something")
    assert caplog.record_tuples == [("partwise", logging.INFO, "something")]
    assert terminal() == ""


def test_the_level_of_the_logger_is_heard(alone, terminal):
    messages.logger.setLevel(logging.WARNING)
    try:
        messages.inform("something")
        messages.logger.warning("more")
    finally:
        messages.logger.setLevel(logging.NOTSET)
    assert terminal() == "partwise: more\n"


def test_quiet_silences_lines_and_bars(alone, terminal, monkeypatch):
    monkeypatch.setenv("PARTWISE_QUIET", "1")
    messages.inform("something")
    NMF(2, verbose=1, max_iter=5, tol=0).fit(np.eye(3))
    assert terminal() == ""


def test_a_fit_that_wants_no_messages(alone, terminal):
    said = []
    NMF(
        2, verbose=-1, max_iter=5, tol=0, callbacks=[lambda *_: said.append(messages.inform("compiling"))]
    ).fit(np.eye(3))
    assert said
    assert terminal() == ""
    messages.inform("later")
    assert terminal() == "partwise: later\n"


def test_the_outcome_of_a_bar_is_a_record(caplog, capsys):
    with caplog.at_level(logging.INFO, "partwise"):
        NMF(2, verbose=1, max_iter=5, tol=0).fit(np.eye(3))
    assert [record.getMessage().split(",")[0] for record in caplog.records] == ["NMF: 5/5"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("quiet", [False, True])
def test_notes_of_the_command_line(quiet, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PARTWISE_QUIET", "1" if quiet else "")
    (tmp_path / "a.csv").write_text("x,word,y\n1,a,2\n3,b,4\n5,c,1\n")
    with pytest.raises(SystemExit) as stop:
        main(["fit", str(tmp_path / "a.csv"), "-k", "1", "-o", str(tmp_path / "out")])
    said = capsys.readouterr().err
    assert stop.value.code == 0
    assert ("Note: " in said and "NMF" in said) is not quiet
    assert said == "" if quiet else True
