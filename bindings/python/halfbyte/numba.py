"""Kernels of Numba CUDA without a GPU: after `import halfbyte.numba`, launches of `@cuda.jit` kernels run on the CPU.

    import halfbyte.numba
    from numba import cuda

The import loads the driver library of halfbyte, which Numba then uses in place of NVIDIA's driver. Import this module before Numba loads
a driver. The library stays loaded until the process ends, so that there is no `uninstall`.

The module is also the function `hb.numba(fn, signature)`, which runs one function without an installation.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from typing import Any, Optional

from . import _driver, _findings
from ._compilers import Races, Sm, missing
from ._numba_kernel import NumbaKernel
from ._numba_kernel import numba as _compile
from ._numba_lines import with_lines

__all__ = ["NumbaKernel", "install", "is_installed", "with_lines"]

#: Configuration of Numba that has no purpose without a GPU: warnings about slow launches and copies.
_QUIET = {"CUDA_LOW_OCCUPANCY_WARNINGS": 0, "CUDA_WARN_ON_IMPLICIT_COPY": 0}

_INSTALL = '"numba-cuda[cu13]"'

_is_installed = False


def install(*, sm: Optional[Sm] = None, races: Optional[Races] = None, keep_going: Optional[bool] = None) -> None:
    """Makes the kernels of Numba run on the CPU. The import of this module calls this function without arguments.

    `sm` is the compute capability of the device, such as `90`. With `races`, races and reads of uninitialised shared memory are errors of
    a launch. With `keep_going`, an error of a kernel is reported, but later calls succeed. The defaults are those of the environment
    variables `HALFBYTE_SM`, `HALFBYTE_RACES` and `HALFBYTE_KEEP_GOING`.

    The driver library reads its settings once, during the import of this module. Set the variables before the import; a call with other
    settings raises an exception.
    """
    global _is_installed
    if _is_installed:
        _driver.load(sm=sm, races=races, keep_going=keep_going)
        return
    was_imported = "numba.cuda.cudadrv.driver" in sys.modules
    _driver.load(sm=sm, races=races, keep_going=keep_going)
    _driver.use_own_caches()
    for name, value in _QUIET.items():
        os.environ.setdefault(f"NUMBA_{name}", str(value))
    try:
        from numba import cuda  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from numba.cuda.cudadrv import driver  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except Exception as error:  # noqa: BLE001 (numba-cuda fails in several ways where its libraries are missing)
        raise missing("numba-cuda", _INSTALL, error) from error
    module: Any = cuda
    if getattr(_config(), "ENABLE_CUDASIM", 0):
        raise RuntimeError("Numba uses its simulator in this process; unset NUMBA_ENABLE_CUDASIM to use halfbyte")
    if was_imported:
        _reload_configuration()
        _connect(driver)
    if _driver.nvidia_linker_is_loaded():
        _link_to_ptx(driver)
    with_lines()
    _show_errors(driver)
    if not module.is_available():
        reason = driver.driver.initialization_error or "no device"
        raise RuntimeError(f"Numba cannot use the driver library of halfbyte: {reason}")
    _is_installed = True


def is_installed() -> bool:
    """Returns `True` if kernels of Numba run by halfbyte in this process."""
    return _is_installed


def _config() -> Any:
    """Returns the configuration of Numba for CUDA."""
    try:
        from numba.cuda.core import config  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        from numba.core import config  # type: ignore[import-untyped, import-not-found, unused-ignore]
    return config


def _reload_configuration() -> None:
    """Makes Numba read the changed environment variables."""
    config = _config()
    reload = getattr(config, "reload_config", None)
    if reload is not None:
        reload()
    for name, value in _QUIET.items():
        setattr(config, name, int(os.environ.get(f"NUMBA_{name}", value)))
    config.CACHE_DIR = os.environ.get("NUMBA_CACHE_DIR", "")


def _connect(module: Any) -> None:
    """Connects Numba to the driver library, after Numba has found no driver. Fails if Numba uses another driver."""
    driver = module.driver
    if driver.initialization_error is not None:
        driver.__init__()
    elif driver.is_initialized:
        name = driver.get_device(0).name
        name = name.decode() if isinstance(name, bytes) else str(name)
        if "halfbyte" not in name:
            raise _driver.DriverInUse(f"Numba uses the GPU {name!r} in this process; import halfbyte.numba before numba.cuda")


def _link_to_ptx(module: Any) -> None:
    """Makes Numba's linker return PTX. NVIDIA's nvJitLink, which is loaded in place of the stand-in, would return machine code."""
    linker = getattr(module, "_Linker", None)
    if linker is None or not hasattr(linker, "get_linked_ptx"):
        raise _driver.DriverInUse("NVIDIA's nvJitLink is loaded in this process; import halfbyte.numba before Numba compiles a kernel")
    complete = linker.complete
    if getattr(complete, "_gives_ptx", False):
        return

    @functools.wraps(complete)
    def complete_with_ptx(self: Any) -> Any:
        if self._has_ltoir:
            code = self.get_linked_ptx()
        elif len(self._object_codes) == 1:
            (only,) = self._object_codes
            code = only.code
            # Numba asks a linker for its log.
            self.linker, self._complete, self._info_log, self._error_log = self, True, "", ""
        else:
            raise RuntimeError("several files cannot be linked; import halfbyte.numba before the first use of @cuda.jit")
        code = code.encode() if isinstance(code, str) else bytes(code)
        return module.ObjectCode.from_cubin(code.rstrip(b"\0") + b"\0")

    setattr(complete_with_ptx, "_gives_ptx", True)
    linker.complete = complete_with_ptx


def _show_errors(module: Any) -> None:
    """Adds the report of a kernel's error to the exception that Numba raises in a later call."""
    check = module.Driver._check_cuda_python_error
    if getattr(check, "_shows_errors", False):
        return

    @functools.wraps(check)
    def check_and_show(self: Any, name: str, returned: Any) -> Any:
        try:
            return check(self, name, returned)
        except module.CudaAPIError as error:
            finding = _findings.latest()
            if finding is not None and int(error.code) in _KERNEL_ERRORS:
                error.msg = f"{error.msg}\n{_summary(finding)}"
                error.args = (error.code, error.msg)
            raise

    setattr(check_and_show, "_shows_errors", True)
    module.Driver._check_cuda_python_error = check_and_show


#: Codes of errors in kernels, such as CUDA_ERROR_ILLEGAL_ADDRESS.
_KERNEL_ERRORS = frozenset((700, 702, 710, 715, 716, 717, 718, 719))


def _summary(finding: _findings.Finding) -> str:
    where = f'File "{finding.file}", line {finding.line}, in kernel {finding.name}' if finding.line else f"in kernel {finding.name}"
    return f"{where}: {finding.message.replace(finding.kernel, finding.name)}"


class _CallableModule(types.ModuleType):
    """The module `halfbyte.numba`, which can be called like the function of the same name."""

    def __call__(self, fn: Any, signature: Any = None, *, sm: Sm = 80, races: Races = False, **options: Any) -> Any:
        return _compile(fn, signature, sm=sm, races=races, **options)


sys.modules[__name__].__class__ = _CallableModule
install()
