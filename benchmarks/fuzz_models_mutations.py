"""Changes to a stored model: to its schema, its arrays, and the bytes of its archive."""

import contextlib
import io
import json
import re
import zipfile
from typing import Any, NamedTuple

import numpy as np

Random = np.random.Generator


class Parts(NamedTuple):
    """A model's schema, every description of an object in it with where it stands, and the members of its archive."""

    schema: dict[str, Any]
    places: list[tuple[Any, Any]]
    members: dict[str, bytes]


ODD_VALUES = (
    *(0, 1, -1, 2, 7, 255, 256, 10**6, 2**31 - 1, 2**31, 2**62, -(2**63), 2**70),
    *(0.5, -0.5, 1e300, -1e300, 1e-300, True, False, None, "", "auto", "log", "cache", "NaN"),
    *([], {}, [1, 2], [[1], [2, 3]], {"a": 1}, ["x"] * 5),
)

ODD_NUMBERS = (0, 1, -1, 2, 3, 100, 255, 256, 2**15, 2**31 - 1, 2**31, 2**62, -(2**62))
ODD_FLOATS = (np.nan, np.inf, -np.inf, 1e300, -1e300, 0.0, 1e-320)


# Stands for lists within lists: too many of them to be written as others are.
DEEP = "nested "
DEEPLY = re.compile(f'"{DEEP}([0-9]+)"')


def read_parts(content: bytes) -> Parts:
    """A stored model taken apart."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members.pop("schema.json"))
    places: list[tuple[Any, Any]] = []
    waiting: list[Any] = [schema]
    while waiting:
        value = waiting.pop()
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(child, dict) and "__loader__" in child:
                places.append((value, key))
            if isinstance(child, (dict, list)):
                waiting.append(child)
    return Parts(schema, places, members)


def pack(parts: Parts, random: Random) -> bytes:
    """The model put together again; one in eight with its bytes damaged."""
    archive = io.BytesIO()
    packed = zipfile.ZIP_DEFLATED if random.random() < 0.1 else zipfile.ZIP_STORED
    with zipfile.ZipFile(archive, "w", packed) as file:
        for name, content in parts.members.items():
            file.writestr(name, content)
        file.writestr("schema.json", DEEPLY.sub(nested, json.dumps(parts.schema)))
    content = archive.getvalue()
    return damaged(content, random) if random.random() < 0.125 else content


def nested(match: re.Match[str]) -> str:
    """Lists within lists, as many as the match says."""
    n_levels = int(match[1])
    kind = '"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"'
    opened = "".join(f'{{{kind}, "__id__": {i + 1}, "content": [' for i in range(n_levels))
    return f"{opened}{']}' * n_levels}"


def damaged(content: bytes, random: Random) -> bytes:
    """Bytes overwritten, or cut off."""
    place = int(random.integers(len(content)))
    if random.random() < 0.5:
        return content[:place]
    noise = random.integers(256, size=int(random.choice([1, 8, 64]))).astype(np.uint8).tobytes()
    return content[:place] + noise + content[place + len(noise) :]


def mutate(parts: Parts, random: Random) -> tuple[Parts, Random]:
    """One to three changes of the schema or the arrays, in place."""
    for _ in range(int(random.integers(1, 4))):
        with contextlib.suppress(LookupError):  # an earlier change took away what this one is about
            if random.random() < 0.55 and parts.members:
                change_member(parts, random)
            else:
                change_schema(parts, random)
    return parts, random


def change_schema(parts: Parts, random: Random) -> None:
    """Change one description of an object, favouring plain values, which are parameters."""
    parent, key = parts.places[int(random.integers(len(parts.places)))]
    other_parent, other_key = parts.places[int(random.integers(len(parts.places)))]
    state, other = parent[key], other_parent[other_key]
    if not isinstance(state, dict) or not isinstance(other, dict):
        return  # an earlier change took it away
    change = random.choice(
        ["value", "value", "value", "swap", "copy", "file", "drop", "item", "deep"]
    )
    if change == "value" and state.get("__loader__") == "JsonNode":
        state["content"] = json.dumps(ODD_VALUES[int(random.integers(len(ODD_VALUES)))])
    elif change in ("value", "swap"):
        parent[key] = json.loads(json.dumps(other))
    elif change == "copy":
        names = ("__id__", "__class__", "__module__", "__loader__")
        for name in names[slice(*random.choice([(0, 1), (1, 3), (3, 4), (1, 4)]))]:
            state[name] = other.get(name)
    elif change == "file" and "file" in state:
        state["file"] = random.choice(list(parts.members))
    elif change == "drop":
        state.pop(random.choice(list(state)), None)
    elif change == "item":
        change_items(state.get("content"), random)
    elif change == "deep":
        parent[key] = f"{DEEP}{random.choice([3, 200, 200_000])}"


def change_items(items: Any, random: Random) -> None:
    """Take an item of a list or dict away, repeat one, or turn the list around."""
    if isinstance(items, dict) and items:
        names = list(items)
        items.pop(names[int(random.integers(len(names)))])
    elif isinstance(items, list) and items:
        place = int(random.integers(len(items)))
        kind = random.choice(["pop", "repeat", "reverse", "clear"])
        if kind == "pop":
            items.pop(place)
        elif kind == "repeat":
            items.extend([items[place]] * 3)
        elif kind == "reverse":
            items.reverse()
        else:
            items.clear()


def change_member(parts: Parts, random: Random) -> None:
    """Change the array in one member of the archive, or the member itself."""
    names = list(parts.members)
    name = names[int(random.integers(len(names)))]
    content = parts.members[name]
    if random.random() < 0.05:
        parts.members.pop(name)
    elif random.random() < 0.1 or not name.endswith(".npy"):
        parts.members[name] = damaged(content, random) if content else b"x"
    else:
        with contextlib.suppress(Exception):  # an earlier change damaged it
            values = np.load(io.BytesIO(content), allow_pickle=False).copy()
            out = io.BytesIO()
            np.save(out, changed_array(values, random), allow_pickle=False)
            parts.members[name] = out.getvalue()


def changed_array(values: np.ndarray, random: Random) -> np.ndarray:
    """Array with odd values, another shape or another type."""
    change = random.choice(["values", "values", "values", "shape", "type", "shuffle"])
    if change == "shape" or values.size == 0:
        return reshaped(values, random)
    if change == "type" and values.dtype.names is None:
        kinds = ["f4", "f8", "i4", "i8", "u1", "?", "U3", "c16"]
        return (
            values.astype(random.choice(kinds), copy=False) if values.dtype.kind != "U" else values
        )
    flat = values.reshape(-1)
    if change == "shuffle":
        random.shuffle(flat)
        return values
    column = flat
    if values.dtype.names is not None:
        column = flat[values.dtype.names[int(random.integers(len(values.dtype.names)))]]
    rows = random.integers(column.size, size=int(random.choice([1, 1, 3, column.size])))
    column[rows] = odd_like(column, random)
    return values


def odd_like(column: np.ndarray, random: Random) -> np.ndarray:
    """An odd value of the array's own type."""
    if column.dtype.kind == "f":
        pool = [*ODD_FLOATS, float(random.normal())]
    elif column.dtype.kind in "US":
        pool = ["", "odd"]
    elif column.dtype.kind in "iub":
        pool = [*ODD_NUMBERS, column.size, column.size - 1, int(random.integers(column.size + 1))]
    else:
        return column[:1].copy()
    with np.errstate(all="ignore"):
        value = pool[int(random.integers(len(pool)))]
        return np.array([value]).astype(column.dtype)


def reshaped(values: np.ndarray, random: Random) -> np.ndarray:
    """Array with rows cut off or repeated, flattened, turned around, or in another order."""
    kind = random.choice(["cut", "repeat", "flat", "turn", "fortran", "wrap", "empty"])
    if kind == "cut":
        return values[: max(0, len(values) - 1)] if values.ndim else values.reshape(1)
    if kind == "repeat":
        return np.concatenate([values, values]) if values.ndim else values
    if kind == "flat":
        return values.reshape(-1)
    if kind == "turn":
        return np.ascontiguousarray(values.T)
    if kind == "fortran":
        return np.asfortranarray(values)
    return values[None] if kind == "wrap" else values[:0] if values.ndim else values
