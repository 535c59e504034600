"""`python -m halfbyte`: the command-line program."""

from __future__ import annotations

import os
import signal
import sys

from . import _driver
from ._halfbyte import main as _main


def main() -> None:
    """Runs the program with the arguments of this process, and exits with its exit code."""
    # The command-line program handles Ctrl-C itself, so Python's handler is removed.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # `exec` finds the driver library of the package by this variable. Without the library, `exec` searches by itself.
    try:
        os.environ.setdefault(_driver.FOLDER_VARIABLE, str(_driver.folder()))
    except _driver.MissingDriver:
        pass
    # `run` and `compile` search the packages of this Python for NVRTC and the CUDA headers.
    os.environ.setdefault("HALFBYTE_MODULES", os.pathsep.join(filter(None, sys.path)))
    sys.stdout.flush()
    sys.exit(_main(["halfbyte", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
