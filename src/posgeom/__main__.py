"""``python -m posgeom``: the command line."""

from posgeom.cli.main import main

if __name__ == "__main__":
    main()
