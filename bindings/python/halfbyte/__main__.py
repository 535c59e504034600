"""`python -m halfbyte`: the program `halfbyte`."""

from __future__ import annotations

import signal
import sys

from ._halfbyte import main as _main


def main() -> None:
    """Runs the program on the arguments of this process, and ends it with the program's exit code."""
    # Ctrl-C is the program's own business.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    sys.exit(_main(["halfbyte", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
