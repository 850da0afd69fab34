class CalcError(Exception):
    """A text that cannot be read, or a number that does not exist."""
