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

    Sub-classes validate themselves in `check`, which raises `InvalidValueError`, so an impossible record cannot
    be built. Equality and hash compare type and field values. Defaults must be immutable.
    """

    fields_: ClassVar[tuple[str, ...]] = ()
    nested_: ClassVar[dict[str, type[Frozen]]] = {}
    """The type of each field that holds a record or a tuple of records; set by the class argument `nested`."""

    blank_: ClassVar[dict[str, Any] | None] = None
    """Every field in order with its default, None without one; computed with the first record of the class."""
    required_: ClassVar[frozenset[str]] = frozenset()
    """The fields without a default; computed together with `blank_`."""

    def __init_subclass__(cls, nested: dict[str, type[Frozen]] | None = None) -> None:
        own = [name for name in vars(cls).get("__annotations__", {}) if not name.endswith("_")]
        cls.fields_ = (*cls.fields_, *(name for name in own if name not in cls.fields_))
        cls.blank_ = None
        if nested:
            cls.nested_ = {**cls.nested_, **nested}

    def __init__(self, **values: Any) -> None:
        cls = type(self)
        if cls.blank_ is None:
            cls.blank_ = {name: getattr(cls, name, None) for name in cls.fields_}
            cls.required_ = frozenset(name for name in cls.fields_ if not hasattr(cls, name))
        fields = self.__dict__
        fields.update(cls.blank_)
        fields.update(values)
        if not values.keys() >= cls.required_:
            raise TypeError(
                f"{cls.__name__} needs {next(name for name in cls.fields_ if name in cls.required_ - values.keys())}"
            )
        if len(fields) != len(cls.fields_):
            raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(values.keys() - set(cls.fields_)))}")
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
    """Return a copy of the record with some fields changed, validated again."""
    return type(record)(**{**record.__dict__, **changes})
