"""`python -m halfbyte`: the command-line program."""

from __future__ import annotations

import signal
import sys

from ._halfbyte import main as _main


def main() -> None:
    """Runs the program with the arguments of this process, and exits with its exit code."""
    # The command-line program handles Ctrl-C itself, so Python's handler is removed.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    sys.exit(_main(["halfbyte", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
