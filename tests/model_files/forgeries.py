"""Stored models to forge: taken apart, changed, and put together again."""

import io
import json
import zipfile

from skops.io import dumps


class Forgery:
    """Model as skops stores it, whose schema a test changes before it is loaded."""

    def __init__(self, model):
        with zipfile.ZipFile(io.BytesIO(dumps(model))) as archive:
            self.members = {name: archive.read(name) for name in archive.namelist()}
        self.schema = json.loads(self.members["schema.json"])

    def state(self, kind):
        """Description of the first object of a type."""
        waiting = [self.schema]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict) and value.get("__class__") == kind:
                return value
            parts = value.values() if isinstance(value, dict) else value
            waiting.extend(part for part in parts if isinstance(part, (dict, list)))
        raise KeyError(kind)

    def attributes(self, kind):
        """Descriptions of the attributes of the first object of a type, by name."""
        return self.state(kind)["content"]["content"]

    def content(self):
        return zipped({**self.members, "schema.json": json.dumps(self.schema)})


def zipped(members, method=zipfile.ZIP_DEFLATED):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return archive.getvalue()
