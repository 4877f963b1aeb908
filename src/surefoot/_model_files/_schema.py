"""The schema of a skops file: what it would make is checked before any of it is made."""

import json
from typing import Any

from surefoot._model_files._refusal import Refusal, UntrustedTypes, require
from surefoot._model_files._trusted import LOADER_OF, LOADERS, PACKAGES

# Brackets and commas: a bound of the memory that parsing takes. Our largest models have a million.
MOST_MARKS = 20_000_000

# The first that has no nodes which skops replaced for their faults.
OLDEST_PROTOCOL = 2


def read_schema(raw: bytes) -> dict[str, Any]:
    """Schema of a file, in which each object is described once and stored as its type is stored.

    skops takes an object for another one, described earlier, if both have the same `__id__`. Here the later
    description is replaced by the earlier, so that what is checked is what is made.
    """
    n_marks = sum(map(raw.count, (b"[", b"{", b","))) if len(raw) > MOST_MARKS else 0
    require(n_marks <= MOST_MARKS, "its schema has too many parts")
    schema = json.loads(raw)
    if not isinstance(schema, dict) or not isinstance(schema.get("__loader__"), str):
        raise TypeError("The schema describes no object.")
    if type(schema.get("protocol")) is not int or schema["protocol"] < OLDEST_PROTOCOL:
        raise ValueError("The protocol is unknown.")
    states = _States()
    n_states = states.visit_root(schema)
    if states.untrusted:
        raise UntrustedTypes(states.untrusted | states.foreign)
    # A file of ours describes an object wherever it is met. One that refers to it instead, twice on each of many
    # levels, would grow without end.
    require(n_states <= raw.count(b'"__loader__"'), "its objects refer to each other too often")
    return schema


class _States:
    """Descriptions of objects by their `__id__`, with the number of objects in each."""

    def __init__(self) -> None:
        self.first: dict[int, dict[str, Any]] = {}
        self.sizes: dict[int, int] = {}
        self.untrusted: set[str] = set()
        self.foreign: set[str] = set()

    def visit_root(self, schema: dict[str, Any]) -> int:
        """Check everything; number of objects that the schema describes."""
        return self._size({0: schema}, 0, schema)

    def _visit(self, value: Any) -> int:
        """Number of objects within a dict or list, each checked, and replaced if it was described before."""
        n_states = 0
        children = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in children:
            if isinstance(child, dict) and "__loader__" in child:
                n_states += self._size(value, key, child)
            elif isinstance(child, (dict, list)):
                n_states += self._visit(child)
        return n_states

    def _size(self, parent: Any, key: Any, state: dict[str, Any]) -> int:
        own_id = state.get("__id__")
        if type(own_id) is not int or own_id <= 0:
            raise TypeError("An object has no number.")
        if own_id in self.first:
            if own_id not in self.sizes:
                raise Refusal("one of its objects contains itself")
            parent[key] = self.first[own_id]
        else:
            self.first[own_id] = state
            self._check(state)
            self.sizes[own_id] = 1 + self._visit(state)
        return self.sizes[own_id]

    def _check(self, state: dict[str, Any]) -> None:
        """Note a type that is stored as none, or none of its kind, may be; skops checks the other names.

        Those of other packages are noted too, and named only if something has to be refused here.
        """
        loader, name = state["__loader__"], f"{state['__module__']}.{state['__class__']}"
        own = LOADER_OF.get(name, loader)
        if loader not in LOADERS or (loader not in (own, "JsonNode")):
            self.untrusted.add(name)
        if name.partition(".")[0] not in PACKAGES:
            self.foreign.add(name)
