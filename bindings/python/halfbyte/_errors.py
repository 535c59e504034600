"""The exceptions of the package. The extension module makes them, with these names and attributes."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

_Place = Tuple[int, int, int]
_Source = Optional[Tuple[str, int]]


class Error(Exception):
    """What goes wrong in halfbyte; arguments that do not fit are a `TypeError` or a `ValueError`, as everywhere in Python."""

    def __init__(self, display: str = "", **attributes: Any) -> None:
        super().__init__(display)
        self.__dict__.update(attributes)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (type(self)._remade, (type(self), str(self), self.__dict__))

    @staticmethod
    def _remade(cls: Callable[..., "Error"], display: str, attributes: Dict[str, Any]) -> "Error":
        return cls(display, **attributes)


class ParseError(Error):
    """A text that is wrong. `str()` of it shows the line with a mark under the place.

    `line` and `column` count from 1. `all` has one error for each thing that is wrong with the text; the first is this one.
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
    """Something that a target cannot do: the op with its type (none of what is about the whole kernel), its line, the target, and why."""

    op: Optional[str]
    line: Optional[int]
    target: str
    reason: str


class Refused(Error):
    """A kernel that a target cannot do exactly. `items` says of each op why."""

    items: List[RefusedItem]

    def __init__(self, display: str = "", *, items: Sequence[RefusedItem] = ()) -> None:
        super().__init__(display, items=list(items))


class Trap(Error):
    """A work item that could not go on. Buffers that the launch was to write hold no result.

    `kind` is one of the names in docs/launch.md, such as `"out-of-bounds-global"`. `item` is its number in the launch, `block` and `thread` where it
    is along x, y and z. `line` is that of the kernel's text, `instruction` what stands there. `source` is the file and line that `.loc` in PTX names.
    """

    kind: str
    item: int
    block: _Place
    thread: _Place
    line: Optional[int]
    instruction: str
    source: _Source

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
        items: Sequence[int] = (),
        lines: Sequence[Optional[int]] = (),
        sources: Sequence[_Source] = (),
    ) -> None:
        super().__init__(display, kind=kind, item=item, block=block, thread=thread, line=line, instruction=instruction)
        self.source = source
        self.items = list(items)
        self.lines = list(lines)
        self.sources = list(sources)


class OutOfBounds(Trap, ValueError):
    """An access beyond an array: the kernel does what it should not, or the array is too short for the launch."""


class Race(Trap):
    """Two items that access one byte, one of them to write it, where nothing orders the two.

    `items` has their numbers and `lines` the lines of their accesses, the one that came first in the search first; `sources` what `.loc` says of
    them.
    """

    items: List[int]
    lines: List[Optional[int]]
    sources: List[_Source]


class Budget(Trap):
    """A work item that took more backward branches than the launch allows."""


class Cancelled(Error):
    """Work whose time was up."""
