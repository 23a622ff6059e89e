"""Immutable value records that cost a hook nothing to import.

They read and type-check like keyword-only frozen dataclasses. The standard `dataclasses` module is not used
because importing it doubles the start of a cold process (ADR 0006), and a hook is a cold process.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, TypeVar, dataclass_transform

    R = TypeVar("R", bound="Frozen")
else:

    def dataclass_transform(**_options):  # noqa: D103 - stands in for typing's, which only type checkers need
        return lambda cls: cls


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Frozen:
    """A record whose annotated class attributes are its fields; a class-level value is that field's default.

    Sub-classes validate themselves in `check`, which raises `InvalidValueError`; so an impossible record cannot
    be built. Equality and hash go by type and field values. Defaults must be immutable.
    """

    fields_: ClassVar[tuple[str, ...]] = ()
    nested_: ClassVar[dict[str, type[Frozen]]] = {}
    """Fields that hold a record, or a tuple of records, and its type; given as the class argument `nested`."""

    def __init_subclass__(cls, nested: dict[str, type[Frozen]] | None = None) -> None:
        own = [name for name in vars(cls).get("__annotations__", {}) if not name.endswith("_")]
        cls.fields_ = (*cls.fields_, *(name for name in own if name not in cls.fields_))
        cls.nested_ = {**cls.nested_, **(nested or {})}

    def __init__(self, **values: Any) -> None:
        fields = self.__dict__
        for name in self.fields_:
            if name in values:
                fields[name] = values.pop(name)
            else:
                try:
                    fields[name] = getattr(type(self), name)
                except AttributeError:
                    raise TypeError(f"{type(self).__name__} needs {name}") from None
        if values:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(values))}")
        self.check()

    def check(self) -> None:
        """Raise InvalidValueError when the fields contradict each other; called once, on construction."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {name}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({shown})"


def replace(record: R, **changes: Any) -> R:
    """A copy of the record with some fields changed, checked anew."""
    return type(record)(**{**record.__dict__, **changes})
