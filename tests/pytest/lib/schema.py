#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Whether JSON is what docs/wsctl.schema.json says.

    schema.py FILE...       documents of wsctl; says what is wrong with them

Knows what that schema is made of, and no more of JSON Schema. Members that the
schema does not name are wrong here: they are to be documented.
"""

import json
import os
import re
import sys

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/wsctl.schema.json")

TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}

KNOWN = {
    "$comment", "$defs", "$ref", "$schema", "additionalProperties", "anyOf", "const", "description",
    "enum", "items", "maximum", "minimum", "pattern", "patternProperties", "properties",
    "required", "title", "type",
}  # fmt: skip


class Schema:
    """A schema whose references are all to its own $defs."""

    def __init__(self, path=SCHEMA):
        with open(path) as file:
            self.top = json.load(file)

    def errors(self, document):
        """What is wrong with it, as texts."""
        # Of all commands only its own can tell what is wrong.
        command = document.get("command") if isinstance(document, dict) else None
        for branch in self.top["anyOf"]:
            about = self._resolve(branch)["properties"]["command"]
            if command in about.get("enum", [about.get("const")]):
                return list(self._errors(branch, document, "document"))
        return [f"{command!r} is no command"]

    def properties(self):
        """The names of all members."""
        found = set()

        def collect(node):
            if isinstance(node, dict):
                for key, value in node.items():
                    if key == "properties":
                        found.update(value)
                    collect(value)
            elif isinstance(node, list):
                for value in node:
                    collect(value)

        collect(self.top["$defs"])
        return found

    def _resolve(self, node):
        if "$ref" not in node:
            return node
        return self._resolve(self.top["$defs"][node["$ref"].removeprefix("#/$defs/")])

    def _errors(self, node, value, where):
        node = self._resolve(node)
        unknown = set(node) - KNOWN
        assert not unknown, f"the schema has {unknown}, which is not checked"
        if "anyOf" in node:
            each = [list(self._errors(branch, value, where)) for branch in node["anyOf"]]
            yield from min(each, key=len)
            return
        if "const" in node and value != node["const"]:
            yield f"{where}: {value!r}, not {node['const']!r}"
        if "enum" in node and value not in node["enum"]:
            yield f"{where}: {value!r}, none of {node['enum']}"
        types = node.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(TYPES[name](value) for name in types):
            yield f"{where}: {value!r} is no {' or '.join(types)}"
        elif isinstance(value, dict):
            yield from self._object_errors(node, value, where)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from self._errors(node.get("items", {}), item, f"{where}[{index}]")
        elif isinstance(value, str):
            if not re.search(node.get("pattern", ""), value):
                yield f"{where}: {value!r} does not match {node['pattern']}"
        elif isinstance(value, (int, float)):
            if not node.get("minimum", value) <= value <= node.get("maximum", value):
                yield f"{where}: {value} is out of range"

    def _object_errors(self, node, value, where):
        for name in node.get("required", []):
            if name not in value:
                yield f"{where}: no {name}"
        for name, member in value.items():
            patterns = [
                schema
                for pattern, schema in node.get("patternProperties", {}).items()
                if re.search(pattern, name)
            ]
            if name in node.get("properties", {}):
                patterns.append(node["properties"][name])
            if not patterns:
                patterns.append(node.get("additionalProperties"))
            if patterns[0] is None:
                yield f"{where}: {name} is not in the schema"
                continue
            for schema in patterns:
                yield from self._errors(schema, member, f"{where}.{name}")


def main():
    """Check files; says 1 where one is wrong."""
    schema = Schema()
    bad = 0
    for path in sys.argv[1:]:
        with open(path) as file:
            for error in schema.errors(json.load(file)):
                print(f"{path}: {error}")
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
