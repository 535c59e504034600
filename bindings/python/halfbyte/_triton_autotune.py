"""Autotuning without measurements: the first configuration that the function does not prune.

A measurement on the CPU says nothing about a GPU, and Triton would compile each configuration. This module imports Triton, so that it
is imported only if Triton is used.
"""

from __future__ import annotations

import weakref
from typing import Any, Callable, Dict, List, Tuple

from triton.runtime.autotuner import Autotuner  # type: ignore[import-untyped, import-not-found, unused-ignore]

#: Configuration of each autotuned function, for each key of arguments.
_Chosen = Dict[Tuple[Any, ...], Any]


def replace(measures: Callable[[], bool]) -> Callable[[], None]:
    """Makes autotuned functions take their first configuration unless `measures` returns true. Returns the function that undoes this."""
    originals = {name: getattr(Autotuner, name) for name in ("run", "prune_configs", "_bench")}
    chosen: weakref.WeakKeyDictionary[Any, _Chosen] = weakref.WeakKeyDictionary()

    def run(tuner: Any, *args: Any, **kwargs: Any) -> Any:
        if measures() or len(tuner.configs) < 2:
            return originals["run"](tuner, *args, **kwargs)
        tuner.nargs = dict(zip(tuner.arg_names, args))
        configs = chosen.setdefault(tuner, {})
        key = _key(tuner, kwargs)
        is_new = key not in configs
        if is_new:
            configs[key] = prune_configs(tuner, kwargs)[0]
        config = configs[key]
        values = {**tuner.nargs, **kwargs, **config.all_kwargs()}
        if is_new:
            # After its measurements, Triton resets the arguments of `reset_to_zero`.
            tuner.pre_hook(values, reset_only=True)
        tuner.best_config = config
        if config.pre_hook is not None:
            config.pre_hook(values)
        result = tuner.fn.run(*args, **kwargs, **config.all_kwargs())
        tuner.nargs = None
        return result

    def prune_configs(tuner: Any, kwargs: Dict[str, Any]) -> List[Any]:
        configs: List[Any] = originals["prune_configs"](tuner, kwargs)
        return configs if measures() else configs[:1]

    def bench(tuner: Any, *args: Any, config: Any, **meta: Any) -> Any:
        """Measures a configuration. Subclasses with a `run` of their own call this even for one configuration."""
        return originals["_bench"](tuner, *args, config=config, **meta) if measures() else [0.0, 0.0, 0.0]

    Autotuner.run, Autotuner.prune_configs, Autotuner._bench = run, prune_configs, bench

    def undo() -> None:
        for name, original in originals.items():
            setattr(Autotuner, name, original)

    return undo


def _key(tuner: Any, kwargs: Dict[str, Any]) -> Tuple[Any, ...]:
    """Returns the values and types of arguments for which Triton would tune again."""
    args = {name: value for name, value in {**tuner.nargs, **kwargs}.items() if name in tuner.arg_names}
    values = [args[name] for name in getattr(tuner, "keys", ()) if name in args]
    return (*values, *(str(value.dtype) for value in args.values() if hasattr(value, "dtype")))
