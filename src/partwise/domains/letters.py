"""What a word is made of, in every script: letters in composed form, and the marks that belong to them."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

#: Zero-width joiners: inside words of Persian, Hindi, Sinhala and others, never at their ends.
_JOINERS = "\u200c\u200d"
#: Variation selectors are marks by category, but stand behind emoji rather than in words.
_SELECTORS = range(0xFE00, 0xFE10)


def composed(text: str) -> str:
    """A text in composed form (NFC), in which ü is one letter and not u with a mark.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The same text; ASCII and composed texts are returned as they are.

    Examples
    --------
    >>> from partwise.domains.letters import composed
    >>> len("u\\u0308"), len(composed("u\\u0308"))
    (2, 1)
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def without_dots(text: str) -> str:
    """A text, in composed form, in which i has no further dot and the Turkish capital İ is i.

    Python's small letter of İ is i with a combining dot, so that İstanbul and istanbul would be two words.

    Parameters
    ----------
    text : str
        Any text, as a rule before it is put into small letters.

    Returns
    -------
    str
        The same text without these dots.

    Examples
    --------
    >>> from partwise.domains.letters import without_dots
    >>> without_dots("\u0130stanbul"), without_dots("\u0130stanbul".lower())
    ('istanbul', 'istanbul')
    """
    found = composed(text)
    if "\u0130" not in found and "i\u0307" not in found:
        return found
    return composed(found.replace("\u0130", "i").replace("i\u0307", "i"))


def lowered(text: str) -> str:
    """A text in composed form and small letters, as its words are looked up.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        Small letters, i without a further dot.

    Examples
    --------
    >>> from partwise.domains.letters import lowered
    >>> lowered("\u0130\u015fte")
    'i\u015fte'
    """
    return without_dots(text).lower()


@cache
def word_pattern() -> str:
    """The regular expression of two or more letters with their marks, none of them beside a digit or underscore.

    Python's ``\\w`` leaves out combining marks, and would cut words of Hindi at each vowel sign. In ASCII texts this
    finds what ``\\b[^\\W\\d_]{2,}\\b`` finds. A letter with a mark is two characters, and so a word.

    Returns
    -------
    str
        For `re` and for vectorizers of scikit-learn.

    Examples
    --------
    >>> import re
    >>> from partwise.domains.letters import word_pattern
    >>> re.findall(word_pattern(), "two cats, 3 dogs; मंत्री")
    ['two', 'cats', 'dogs', 'मंत्री']
    """
    marks, letter = _marks(), r"[^\W\d_]"
    # One mark or joiner at a time, and possessive: nothing can be cut in two ways, so that no text takes long.
    # (A round looks ahead before it takes anything: some Pythons forget to give back what a failed one took.)
    marked = rf"(?:(?=[{marks}]|[{_JOINERS}](?:\w|[{marks}]))[{marks}{_JOINERS}]{letter}*+)++"
    plain = rf"{letter}++(?![\w{marks}{_JOINERS}])"
    return rf"(?u)(?<![\w{marks}]){letter}(?:{plain}|{letter}*+{marked}(?![\w{marks}]))"


def _marks() -> str:
    """The marks of the basic plane (categories Mn and Mc), as ranges of a character class."""
    runs: list[list[int]] = []
    for code in range(0x300, 0x10000):
        if unicodedata.category(chr(code)) in ("Mn", "Mc") and code not in _SELECTORS:
            if runs and runs[-1][1] == code - 1:
                runs[-1][1] = code
            else:
                runs.append([code, code])
    return "".join(chr(a) if a == b else f"{chr(a)}-{chr(b)}" for a, b in runs)


class Unspaced:
    """Whether texts are written without blanks between words, by what the first of them look like.

    Their letters are mostly of scripts that can be written so, and runs of these are longer on average than words
    are: above 4 characters in Chinese and Japanese (words have about 2), above 12 in Thai, Lao, Burmese and Khmer
    (about 5).
    """

    TEXTS, LETTERS = 200, 2000
    _SCRIPTS = (
        (re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+"), 4),
        (re.compile("[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3]+"), 12),
    )
    ADVICE = (
        "The texts seem to have no blanks between words, so that whole sentences count as one word. Cut them into "
        "words first (a segmenter for the language puts blanks between them)."
    )

    def __init__(self) -> None:
        self._texts = self._letters = 0
        self._runs = [[0, 0] for _ in self._SCRIPTS]

    def see(self, text: str) -> None:
        """Look at a text.

        Parameters
        ----------
        text : str
            One of those that are read.
        """
        if self._texts >= self.TEXTS:
            return
        self._texts += 1
        head = text[: self.LETTERS]
        self._letters += sum(map(str.isalpha, head))
        if not head.isascii():
            for (script, _), count in zip(self._SCRIPTS, self._runs):
                found = script.findall(head)
                count[0] += len(found)
                count[1] += sum(map(len, found))

    def __bool__(self) -> bool:
        return any(
            runs and 2 * size > self._letters and size > usual * runs
            for (_, usual), (runs, size) in zip(self._SCRIPTS, self._runs)
        )
