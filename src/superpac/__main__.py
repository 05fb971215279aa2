"""``python -m superpac`` is the command line."""

from superpac.cli import main

if __name__ == "__main__":
    main()
