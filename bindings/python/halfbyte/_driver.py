"""The driver library of halfbyte, loaded into this process in place of NVIDIA's driver.

The library, `libcuda.so.1`, reads its settings from environment variables when it is first used. It stays loaded until the process ends.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Union

from ._compilers import MissingPackage, Races

#: Variable with the folder of the driver library.
FOLDER_VARIABLE = "HALFBYTE_DRIVER"

#: File names of the driver library and of the stand-in for nvJitLink.
LIBRARY = "libcuda.so.1"
LINKER = "libnvJitLink.so.13"

#: Names by which programs load nvJitLink.
_LINKERS = ("libnvJitLink.so.13", "libnvJitLink.so.12")

#: Variable with the path of NVIDIA's nvJitLink, which the stand-in uses.
_NVIDIA_LINKER = "HALFBYTE_NVJITLINK"

#: Variables with the cache folders of frameworks, and the names of these folders. The Triton plug-in needs none, because its cache keys
#: differ from those of kernels for a GPU.
_CACHES = {"NUMBA_CACHE_DIR": "numba", "CUPY_CACHE_DIR": "cupy", "PYCUDA_CACHE_DIR": "pycuda"}

_lock = threading.RLock()
_library: Optional[ctypes.CDLL] = None
#: The settings of the library when it was loaded.
_settings: Dict[str, str] = {}


class MissingDriver(MissingPackage):
    """The driver library is not installed; the message says where it is expected."""


class DriverInUse(RuntimeError):
    """The process has loaded another driver, or the driver library with other settings."""


def folder() -> Path:
    """Returns the folder of the driver library: that of the variable `HALFBYTE_DRIVER`, or that of the wheel."""
    given = os.environ.get(FOLDER_VARIABLE)
    found = Path(given) if given else Path(__file__).resolve().parent / "driver"
    if (found / LIBRARY).is_file():
        return found.resolve()
    if not sys.platform.startswith("linux"):
        raise MissingDriver(f"the driver library {LIBRARY} needs Linux; this system is {sys.platform}")
    if given:
        raise MissingDriver(f"the folder {found}, which {FOLDER_VARIABLE} names, has no {LIBRARY}")
    raise MissingDriver(
        f"this installation of halfbyte has no driver library ({found / LIBRARY}); install a wheel of halfbyte, or build the "
        f"library in a checkout with `bindings/cuda/build release` and set {FOLDER_VARIABLE} to the folder that it prints"
    )


def load(*, sm: Union[int, str, None] = None, races: Optional[Races] = None, keep_going: Optional[bool] = None) -> ctypes.CDLL:
    """Loads the driver library, so that all code of the process finds it by its name.

    A setting of `None` has the value of its environment variable. The library reads its settings once. A later call with other settings
    raises `DriverInUse`.
    """
    global _library
    wanted = _variables(sm, races, keep_going)
    with _lock:
        if loaded() is not None:
            _check_settings(wanted)
        else:
            found = folder()
            other = _already_loaded(LIBRARY)
            if other is not None:
                raise DriverInUse(
                    f"this process has loaded another CUDA driver, {_file_of(other, 'cuInit')}; import the module of halfbyte before the "
                    "package that loads the driver"
                )
            os.environ.update(wanted)
            _load_linker(found)
            _library = ctypes.CDLL(str(found / LIBRARY), mode=ctypes.RTLD_GLOBAL)
            _remember_settings()
        assert _library is not None
        return _library


def loaded() -> Optional[ctypes.CDLL]:
    """Returns the driver library if this process has loaded it, for example under `halfbyte exec`."""
    global _library
    with _lock:
        found = _already_loaded(LIBRARY) if _library is None and sys.platform.startswith("linux") else None
        if found is not None and hasattr(found, "halfbyte_take_findings"):
            _library = found
            _remember_settings()
        return _library


def nvidia_linker_is_loaded() -> bool:
    """Returns `True` if programs in this process find NVIDIA's nvJitLink, because it was loaded before the stand-in."""
    for name in _LINKERS:
        library = _already_loaded(name) if sys.platform.startswith("linux") else None
        if library is not None:
            # The folder of the stand-in contains the driver library.
            return not (_file_of(library, "nvJitLinkVersion").parent / LIBRARY).is_file()
    return False


def use_own_caches() -> None:
    """Sets empty cache folders for frameworks, because their own folders may have machine code of a GPU.

    A child process uses the folder of its parent, which the variable `HALFBYTE_OWN_CACHES` names.
    """
    parent = os.environ.get("HALFBYTE_OWN_CACHES")
    if parent and Path(parent).is_dir():
        return
    made = tempfile.mkdtemp(prefix="halfbyte-caches-")
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove)
    os.environ["HALFBYTE_OWN_CACHES"] = made
    for variable, name in _CACHES.items():
        path = Path(made) / name
        path.mkdir()
        os.environ[variable] = str(path)
    os.environ["CACHEDB"] = str(Path(made) / "tinygrad.db")


def use_search_paths() -> None:
    """Sets the variables by which child processes, and frameworks that search for files, find the library, tools and headers."""
    found, wheels = folder(), list(wheel_folders())
    _prepend("LD_LIBRARY_PATH", [found, *(wheel / "lib" for wheel in wheels if (wheel / "lib").is_dir())])
    stand_in = str(found / LINKER)
    # A space and a colon separate the libraries of this variable.
    if os.environ.get(_NVIDIA_LINKER) and os.path.isfile(stand_in) and not set(" :") & set(stand_in):
        _prepend("LD_PRELOAD", [found / LINKER])
    if (found / "python").is_dir():
        _prepend("PYTHONPATH", [found / "python"])
    tools = found / "bin"
    if tools.is_dir():
        _prepend("PATH", [tools])
        if (tools / "ptxas").is_file():
            for name in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"):
                os.environ[name] = str(tools / "ptxas")
    headers = [wheel for wheel in wheels if (wheel / "include" / "cuda_fp16.h").is_file()]
    for name in ("CUDA_PATH", "CUDA_HOME"):
        if headers and not os.environ.get(name):
            os.environ[name] = str(headers[0])


def wheel_folders() -> Iterator[Path]:
    """Yields the folders of NVIDIA's wheels, such as `nvidia/cu13`."""
    for entry in dict.fromkeys(sys.path):
        nvidia = Path(entry or ".") / "nvidia"
        if nvidia.is_dir():
            yield from sorted(path for path in nvidia.iterdir() if path.is_dir())


def _prepend(variable: str, folders: List[Path]) -> None:
    before = [entry for entry in os.environ.get(variable, "").split(os.pathsep) if entry]
    added = [str(path) for path in folders if str(path) not in before]
    os.environ[variable] = os.pathsep.join(added + before)


def _variables(sm: Union[int, str, None], races: Optional[Races], keep_going: Optional[bool]) -> Dict[str, str]:
    """Returns the environment variables of settings."""
    variables: Dict[str, str] = {}
    if sm is not None:
        from ._halfbyte import sm_number

        variables["HALFBYTE_SM"] = str(sm_number(sm))
    if races is not None:
        if not isinstance(races, bool) and races != "strict":
            raise ValueError(f'races is {races!r}; it is False, True or "strict"')
        variables["HALFBYTE_RACES"] = "strict" if races == "strict" else "on" if races else "off"
    if keep_going is not None:
        variables["HALFBYTE_KEEP_GOING"] = "1" if keep_going else "0"
    return variables


def _setting(name: str, value: Optional[str]) -> str:
    """Returns the value of a variable as the driver library reads it."""
    value = (value or "").strip()
    if name == "HALFBYTE_SM":
        return (value[3:] if value.startswith("sm_") else value) or "80"
    if name == "HALFBYTE_RACES":
        return "off" if value in ("", "0", "off") else value if value == "strict" else "on"
    return "0" if value in ("", "0") else "1"


def _remember_settings() -> None:
    for name in ("HALFBYTE_SM", "HALFBYTE_RACES", "HALFBYTE_KEEP_GOING"):
        _settings[name] = _setting(name, os.environ.get(name))


def _check_settings(wanted: Dict[str, str]) -> None:
    """Checks that the loaded library has the settings."""
    for name, value in wanted.items():
        before = _settings[name]
        if _setting(name, value) != before:
            raise DriverInUse(
                f"{name} is {before} in this process, and cannot become {value}: the driver library of halfbyte reads its settings "
                "once; give the same settings in all calls, or use a process of its own"
            )


def _already_loaded(name: str) -> Optional[ctypes.CDLL]:
    """Returns a library that the process has loaded under a name."""
    try:
        return ctypes.CDLL(name, mode=os.RTLD_NOLOAD)
    except OSError:
        return None


def _file_of(library: ctypes.CDLL, function: str) -> Path:
    """Returns the path of the file that a function of a library was loaded from."""
    address = ctypes.cast(getattr(library, function), ctypes.c_void_p).value or 0
    for line in Path("/proc/self/maps").read_text(errors="replace").splitlines():
        first, _, last = line.split(maxsplit=1)[0].partition("-")
        if int(first, 16) <= address < int(last, 16):
            return Path(line.split(maxsplit=5)[5])
    return Path(LIBRARY)


def _load_linker(found: Path) -> None:
    """Loads the stand-in for nvJitLink, unless NVIDIA's library is missing or loaded."""
    stand_in = found / LINKER
    nvidia = os.environ.get(_NVIDIA_LINKER) or _newest_linker()
    if nvidia and stand_in.is_file() and not nvidia_linker_is_loaded():
        os.environ[_NVIDIA_LINKER] = nvidia
        ctypes.CDLL(str(stand_in), mode=ctypes.RTLD_GLOBAL)


def _newest_linker() -> Optional[str]:
    """Returns the path of NVIDIA's newest nvJitLink in the wheels."""
    files = [file for wheel in wheel_folders() for file in (wheel / "lib").glob("libnvJitLink.so.*")]
    return str(max(files, key=lambda file: file.name)) if files else None
