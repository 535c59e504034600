"""Settings of launches that halfbyte makes in place of a GPU, read from the environment variables of the driver library."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Dict, Mapping, NamedTuple, Optional

from ._compilers import Races
from ._halfbyte import sm_number

#: Maximum number of backward branches of a thread. The number is large, because kernels for a GPU may run long loops.
_BUDGET = 1 << 30


class Limits(NamedTuple):
    """Limits of a compute capability."""

    #: Maximum number of threads of a multiprocessor.
    threads: int
    #: Maximum number of bytes of shared memory of a multiprocessor.
    shared: int
    #: Maximum number of bytes of shared memory of a block.
    shared_of_block: int
    #: Number of bytes of the L2 cache.
    cache: int


def _limits(threads: int, shared: int, shared_of_block: int, cache: int) -> Limits:
    """Returns limits from sizes in KiB, and the size of the cache in MiB."""
    return Limits(threads, shared << 10, shared_of_block << 10, cache << 20)


#: Limits of the compute capabilities that a device can have, as in the driver library.
LIMITS: Dict[int, Limits] = {
    75: _limits(1024, 64, 64, 4),
    80: _limits(2048, 164, 163, 40),
    86: _limits(1536, 100, 99, 6),
    87: _limits(1536, 164, 163, 4),
    89: _limits(1536, 100, 99, 72),
    90: _limits(2048, 228, 227, 50),
    100: _limits(2048, 228, 227, 126),
    103: _limits(2048, 228, 227, 126),
    120: _limits(1536, 100, 99, 96),
    121: _limits(1536, 100, 99, 96),
}


@dataclass(frozen=True)
class Settings:
    """Device and checks of launches."""

    #: Compute capability, such as 80 for 8.0.
    sm: int = 80
    #: Number of multiprocessors. It is small because kernels often fill the whole device.
    multiprocessors: int = 4
    #: Number of bytes of the device's memory.
    memory: int = 4 << 30
    races: Races = False
    #: If true, an error of a kernel is reported, and the launch counts as done. Otherwise, it is raised.
    keep_going: bool = False
    budget: int = _BUDGET
    #: Number of CPU threads of a launch.
    threads: int = 1
    #: If true, autotuning measures all configurations. Otherwise, it takes the first one.
    autotune: bool = False

    @property
    def limits(self) -> Limits:
        """Limits of the compute capability."""
        return LIMITS[self.sm]


def from_environment(variables: Optional[Mapping[str, str]] = None) -> Settings:
    """Reads the settings from environment variables. An invalid value gives a warning, and the default applies."""
    given = os.environ if variables is None else variables
    values = {name: value.strip() for name, value in given.items() if name.startswith("HALFBYTE_") and value.strip()}

    def is_on(name: str) -> bool:
        return values.get(name, "0") != "0"

    races: Races = False
    if is_on("HALFBYTE_RACES") and values["HALFBYTE_RACES"] != "off":
        races = "strict" if values["HALFBYTE_RACES"] == "strict" else True
    default = Settings()
    return Settings(
        sm=_capability(values, default.sm),
        multiprocessors=_number(values, "HALFBYTE_SMS", default.multiprocessors, 1, 1024),
        memory=_bytes(values, "HALFBYTE_MAX_MEMORY", default.memory),
        races=races,
        keep_going=is_on("HALFBYTE_KEEP_GOING"),
        budget=_number(values, "HALFBYTE_BUDGET", default.budget, 0, 2**63 - 1),
        threads=_number(values, "HALFBYTE_THREADS", default.threads, 1, 65535),
        autotune=is_on("HALFBYTE_TRITON_AUTOTUNE"),
    )


def capability(value: object) -> int:
    """Returns a compute capability, such as `80` or `"sm_80"`. Another value raises `TypeError` or `ValueError`."""
    sm = sm_number(value)
    if sm not in LIMITS:
        raise ValueError(f"sm is {sm}; give one of {', '.join(map(str, LIMITS))}")
    return sm


def _ignored(name: str, value: str, expected: str) -> None:
    warnings.warn(f"`{name}={value}` is ignored; set {name} to {expected}", stacklevel=4)


def _capability(values: Mapping[str, str], default: int) -> int:
    value = values.get("HALFBYTE_SM")
    if value is None:
        return default
    digits = value.removeprefix("sm_")
    if digits.isdecimal() and int(digits) in LIMITS:
        return int(digits)
    _ignored("HALFBYTE_SM", value, f"one of {', '.join(map(str, LIMITS))}")
    return default


def _number(values: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    value = values.get(name)
    if value is None:
        return default
    if value.isdecimal() and least <= int(value) <= most:
        return int(value)
    _ignored(name, value, f"a number from {least} to {most}")
    return default


def _bytes(values: Mapping[str, str], name: str, default: int) -> int:
    value = values.get(name)
    if value is None:
        return default
    shift = {"K": 10, "M": 20, "G": 30}.get(value[-1].upper(), 0)
    digits = value[:-1] if shift else value
    if digits.isdecimal() and 0 < int(digits) << shift < 2**63:
        return int(digits) << shift
    _ignored(name, value, "a number of bytes, such as 4294967296, 512M or 4G")
    return default
