"""Models on disk: read and written by skops, which makes nothing but what is on a list."""

import zipfile
from pathlib import Path
from typing import Any

from skops.io import dumps

from surefoot._files import write_whole
from surefoot._model_files._archive import SCHEMA, Archive, read_content
from surefoot._model_files._arguments import check_arguments
from surefoot._model_files._objects import check_objects
from surefoot._model_files._refusal import ModelFileError, Refusal, UntrustedTypes
from surefoot._model_files._schema import read_schema
from surefoot._model_files._skops_private import (
    PROTOCOL,
    LoadContext,
    Node,
    get_tree,
)
from surefoot._model_files._trusted import LOADER_OF
from surefoot._words import listed


def model_content(model: Any) -> bytes:
    """Contents of a skops file, compressed: most of it is names, again and again."""
    return dumps(model, compression=zipfile.ZIP_DEFLATED)


def save_model(model: Any, path: Path) -> None:
    """Write a model with skops: the whole file, or none."""
    write_whole(path, model_content(model))


def load_model(path: Path) -> Any:
    """Model from a skops file that is made of nothing but trusted types; one sentence if that cannot be."""
    content = read_content(path)
    try:
        return _model_of(content)
    except UntrustedTypes as error:
        raise ModelFileError(_why_untrusted(path, sorted(error.names))) from error
    except Refusal as error:
        raise ModelFileError(f"{path} is not loaded: {error}.") from error
    except RecursionError as error:
        raise ModelFileError(f"{path} is not loaded: it is nested too deeply.") from error
    except Exception as error:
        raise ModelFileError(
            f"{path} is a broken skops file, or was saved by other versions."
        ) from error


def _model_of(content: bytes) -> Any:
    """Model in the contents of a file, checked before, while and after it is made."""
    with Archive(content) as archive:
        schema = read_schema(archive.read(SCHEMA))
        if schema["protocol"] > PROTOCOL:
            raise ValueError("The file was saved by a newer skops.")
        # As skops does it in `loads`, with an archive and a schema that were checked.
        context = LoadContext(src=archive, protocol=schema["protocol"])
        tree = get_tree(schema, context, trusted=None)
        nodes = list(context.memo.values())
        untrusted = {name for node in nodes for name in _own_unsafe(node)} - LOADER_OF.keys()
        if untrusted:
            raise UntrustedTypes(untrusted)
        check_arguments(nodes)
        model = tree.construct()
    check_objects(model)
    return model


def _own_unsafe(node: Node) -> set[str]:
    """Types that skops does not trust in a node; those of its children are asked themselves, once each."""
    if type(node).get_unsafe_set is not Node.get_unsafe_set:
        return node.get_unsafe_set()
    return set() if node.is_self_safe() else {f"{node.module_name}.{node.class_name}"}


def _why_untrusted(path: Path, types: list[str]) -> str:
    """Sentence for types that are not on the list; surefoot's own have moved since the file was written."""
    foreign = [name for name in types if not name.startswith("surefoot.")]
    if foreign or any(name in LOADER_OF for name in types):
        return f"{path} is not loaded: it holds {listed(foreign or types)}, which surefoot does not trust."
    return (
        f"{path} was saved by another version of surefoot, whose models are laid out differently: "
        "fit the model again with this one."
    )
