"""Build backend of the package for pip: maturin, with the driver library in the wheel.

In a checkout, the script `stage` builds the driver library before the extension module. A source archive has no sources of the driver
library, so that a wheel that is built from the archive does not contain the library.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path
from typing import Any, Mapping, Optional

import maturin  # type: ignore[import-untyped, import-not-found, unused-ignore]
from maturin import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_FOLDER = Path(__file__).resolve().parent

_Settings = Optional[Mapping[str, Any]]


def _profile(settings: _Settings) -> str:
    """Returns the Cargo profile that maturin uses."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--profile", default="release")
    return str(parser.parse_known_args(maturin.get_maturin_pep517_args(settings))[0].profile)


def _stage(settings: _Settings) -> None:
    """Builds the driver library, if the package is in a checkout."""
    if (_FOLDER.parent / "cuda" / "build").is_file():
        subprocess.run([str(_FOLDER / "stage"), _profile(settings)], check=True)


def build_wheel(wheel_directory: str, config_settings: _Settings = None, metadata_directory: Optional[str] = None) -> str:
    _stage(config_settings)
    return str(maturin.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(wheel_directory: str, config_settings: _Settings = None, metadata_directory: Optional[str] = None) -> str:
    _stage(config_settings)
    return str(maturin.build_editable(wheel_directory, config_settings, metadata_directory))
