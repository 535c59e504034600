"""Exceptions of the package. The extension module raises them by class name, with these attributes."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

_Place = Tuple[int, int, int]
_Source = Optional[Tuple[str, int]]


class Error(Exception):
    """Base class of errors in halfbyte. Invalid arguments raise `TypeError` or `ValueError` instead, as usual in Python."""

    def __init__(self, display: str = "", **attributes: Any) -> None:
        super().__init__(display)
        self.__dict__.update(attributes)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (type(self)._remade, (type(self), str(self), self.__dict__))

    @staticmethod
    def _remade(cls: Callable[..., "Error"], display: str, attributes: Dict[str, Any]) -> "Error":
        return cls(display, **attributes)


class ParseError(Error):
    """Error in a source text. `str()` quotes the line and marks the position.

    `line` and `column` count from 1. `all` has all errors of the text; the first is this one.
    """

    file: str
    line: int
    column: int
    message: str
    all: List["ParseError"]

    def __init__(
        self,
        display: str = "",
        *,
        file: str = "",
        line: int = 1,
        column: int = 1,
        message: Optional[str] = None,
        all: Optional[Sequence["ParseError"]] = None,
    ) -> None:
        message = display if message is None else message
        super().__init__(display, file=file, line=line, column=column, message=message)
        self.all = [self] if all is None else list(all)

    def __reduce__(self) -> Tuple[Any, ...]:
        of = {"file": self.file, "line": self.line, "column": self.column, "message": self.message}
        of["all"] = None if self.all == [self] else self.all
        return (type(self)._remade, (type(self), str(self), of))


class RefusedItem(NamedTuple):
    """Unsupported op: the op with its type (`None` for the whole kernel), its line, the target, and the reason."""

    op: Optional[str]
    line: Optional[int]
    target: str
    reason: str


class Refused(Error):
    """Kernel that a target cannot compute exactly. `items` has the reason for each op."""

    items: List[RefusedItem]

    def __init__(self, display: str = "", *, items: Sequence[RefusedItem] = ()) -> None:
        super().__init__(display, items=list(items))


class Trap(Error):
    """Trap of a work item. The contents of the buffers that the launch writes are unspecified.

    `kind` is one of the names in docs/launch.md, such as `"out-of-bounds-global"`. `item` is the item's number in the launch; `block` and
    `thread` are its coordinates along x, y and z. `line` and `instruction` are the position in the kernel's text. `source` is the file
    and line of the `.loc` directive in PTX. `inlined_at` has the files and lines of the calls that `source` is inlined into, innermost
    first.
    """

    kind: str
    item: int
    block: _Place
    thread: _Place
    line: Optional[int]
    instruction: str
    source: _Source
    inlined_at: List[Tuple[str, int]]

    def __init__(
        self,
        display: str = "",
        *,
        kind: str = "trap",
        item: int = 0,
        block: _Place = (0, 0, 0),
        thread: _Place = (0, 0, 0),
        line: Optional[int] = None,
        instruction: str = "",
        source: _Source = None,
        inlined_at: Sequence[Tuple[str, int]] = (),
        items: Sequence[int] = (),
        lines: Sequence[Optional[int]] = (),
        sources: Sequence[_Source] = (),
    ) -> None:
        super().__init__(display, kind=kind, item=item, block=block, thread=thread, line=line, instruction=instruction)
        self.source = source
        self.inlined_at = list(inlined_at)
        self.items = list(items)
        self.lines = list(lines)
        self.sources = list(sources)


class OutOfBounds(Trap, ValueError):
    """Access beyond an array: the kernel is wrong, or the array is too short for the launch."""


class Race(Trap):
    """Data race: two items access the same byte without ordering, and one of them writes it.

    `items` has the numbers of the items, `lines` the lines of their accesses in the order of detection, and `sources` the positions of
    their `.loc` directives.
    """

    items: List[int]
    lines: List[Optional[int]]
    sources: List[_Source]


class RaceWarning(UserWarning):
    """Warning about two stores of the same value to one byte, by the same instruction of two items without ordering.

    The stores do not change the result. `race` describes them. With `races="strict"`, they raise `Race`.
    """

    race: Race

    def __init__(self, display: str = "", race: Optional[Race] = None) -> None:
        super().__init__(display)
        self.race = Race(display) if race is None else race


class Budget(Trap):
    """Work item that exceeded the maximum number of backward branches."""


class Cancelled(Error):
    """Work that exceeded its time limit."""
