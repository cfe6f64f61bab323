"""The two errors of reading and writing; each message is a sentence the user can act on."""


class DataError(ValueError):
    """A data file, or what it holds, cannot be used: missing, damaged, not numbers, not a table."""


class ModelFileError(ValueError):
    """A model cannot be saved to, or loaded from, a model file."""
