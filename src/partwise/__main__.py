"""`python -m partwise`: the command line, where the program `partwise` is not on the path."""

from partwise.cli import main

if __name__ == "__main__":
    main()
