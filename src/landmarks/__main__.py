"""`python -m landmarks` is the command `landmarks`."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
