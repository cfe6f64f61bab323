"""How much a page shows at most, so that it stays quick with any data. What is left out is said on the page."""

#: Parts with a card of their own; the others are listed in a table.
CARDS = 60
#: Parts in tables and heat maps.
PARTS = 400
#: Features named for each part.
FEATURES = 10
#: Rows of the table of samples.
SAMPLES = 5000
#: Samples shown for each part.
TOP_SAMPLES = 6
#: Samples of each part that are always in the table.
TABLE_TOP = 20
#: Rows of the heat map of W.
HEAT_ROWS = 300
#: Rows and columns of the table in the order of its tiles.
TILE_ROWS, TILE_COLUMNS = 220, 160
#: Characters of a name, of a text beside a part, and of one in the table.
NAME, TEXT, EXCERPT = 120, 600, 160
#: Pixels of the longer side of a picture of a sample or part.
PIXELS = 96
#: Bytes of pictures and of sounds taken from files.
PICTURE_BYTES, SOUND_BYTES = 1_200_000, 1_200_000
#: Points of a curve.
POINTS = 800
#: Classes with a sunburst of their own.
CLASSES = 24


def short(text: object, length: int = NAME) -> str:
    """A text on one line, `length` characters at most; an ellipsis stands for what is left out of its middle.

    Parameters
    ----------
    text : object
        Its `str` is taken.
    length : int
        Characters, at most.

    Returns
    -------
    str
        The text. The middle is left out because names that begin alike often differ at their ends.
    """
    line = " ".join(str(text).split())
    if len(line) <= length:
        return line
    end = length // 3
    return line[: length - end - 1].rstrip() + "…" + line[-end:].lstrip()


def excerpt(text: object, length: int) -> str:
    """The beginning of a text, `length` characters at most.

    Parameters
    ----------
    text : object
        Its `str` is taken.
    length : int
        Characters, at most.

    Returns
    -------
    str
        Ends with an ellipsis where the text goes on.
    """
    line = " ".join(str(text)[: 4 * length].split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"
