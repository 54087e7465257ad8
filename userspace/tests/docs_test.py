#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The manual has all that there is, and nothing that there is not.

    docs_test.py WSCTL TOP

wsctl's commands and options, the members of its JSON, the calls of ws.h, the
module's mount options, sysfs files and ioctls; and the golden files are what the
schema says.
"""

import copy
import glob
import json
import os
import re
import subprocess
import sys

WSCTL, TOP = sys.argv[1:3]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "tests/pytest/lib"))
from schema import Schema  # noqa: E402

failed = []


def check(good, text):
    """Note what is not good."""
    if not good:
        failed.append(text)


def read(path):
    """A file of the sources."""
    with open(os.path.join(TOP, path)) as file:
        return file.read()


def complete(*words):
    """What may stand there, with what is said of it."""
    lines = subprocess.run(
        [WSCTL, "__complete", *words], stdout=subprocess.PIPE, check=True, text=True
    ).stdout.splitlines()[1:]
    return [tuple(line.split("\t")) for line in lines]


def commands(*above):
    """All commands, as lists of words; those of a family in its place."""
    # Values, which nothing is said of, are no commands.
    for word, *about in complete(*above, ""):
        if about:
            below = list(commands(*above, word))
            yield from below or [[*above, word]]


def options(command):
    """(long name, short letter or "") of each option that is the command's own."""
    text = subprocess.run(
        [WSCTL, *command, "--help"], stdout=subprocess.PIPE, check=True, text=True
    ).stdout
    everywhere = {word for word, *_ in complete("--")} | {"--json"}
    for word, *_ in complete(*command, "--"):
        if word not in everywhere:
            short = re.search(rf"^ +-(\w),{word}\b", text, re.MULTILINE)
            yield word[2:], short[1] if short else ""


def flags(text):
    """Long names and letters of the options in a piece of mdoc."""
    longs = set(re.findall(r"\bFl Fl ([a-z][-a-z]*)", text))
    letters = re.findall(r"(?<!Fl )\bFl ([A-Za-z0-9]+)(?![-\w])", text)
    return longs, set("".join(letters)) - {"F"}


def command_text(page, command):
    """Its part of the synopsis, and its section."""
    words = " ".join(command)
    synopsis = page.split(".Sh SYNOPSIS")[1].split(".Sh ")[0]
    parts = [
        part
        for part in synopsis.split(".Nm\n")
        if part.startswith(f".Cm {words}\n")
    ]
    sections = re.split(r"^\.S[sh] ", page, flags=re.MULTILINE)
    parts += [part for part in sections if part.startswith(f"{words}\n")]
    check(len(parts) >= 2, f"wsctl.8: {words}: is not in the synopsis, or has no section")
    return "\n".join(parts)


def check_commands():
    """Commands and options against wsctl(8)."""
    page = read("docs/man/wsctl.8")
    known = {"help", "json", "color", "version"}
    # Files are named in the same way for all of these.
    like_set = command_text(page, ["set"])
    found = list(commands())

    check(len(found) > 15, f"only {len(found)} commands are found")
    for command in found:
        text = command_text(page, command)
        if command in (["clear"], ["get"]):
            text += like_set
        longs, letters = flags(text)
        for name, letter in options(command):
            known.add(name)
            check(
                name in longs or letter and letter in letters,
                f"wsctl.8: {' '.join(command)} --{name} is not there",
            )
    for name in flags(page)[0] - known:
        check(False, f"wsctl.8: there is no option --{name}")


def check_json():
    """Golden files against the schema, its members against wsctl(8)."""
    schema = Schema()
    text = read("docs/man/wsctl.8").split(".Sh JSON")[1].split(".Sh ")[0]
    words = set(re.findall(r"[\w.]+", text))
    documents = {}

    for path in sorted(glob.glob(os.path.join(TOP, "userspace/tests/golden/*.json"))):
        with open(path) as file:
            document = json.load(file)
        documents.setdefault(document["command"], document)
        for error in schema.errors(document):
            check(False, f"{os.path.basename(path)}: {error}")
    for name in schema.properties() - words:
        check(False, f"wsctl.8: JSON: {name} is not there")
    for command in commands():
        check(" ".join(command) in documents, f"no golden JSON of {' '.join(command)}")
    # And it would tell.
    for document in documents.values():
        for spoil in (
            lambda bad: bad.update(version=2),
            lambda bad: bad.update(command="nothing"),
            lambda bad: bad.update(surprise=1),
            lambda bad: bad.pop("version"),
        ):
            bad = copy.deepcopy(document)
            spoil(bad)
            check(schema.errors(bad), f"{document['command']}: the schema takes anything")


def check_names(page, names, least):
    """Names that a page has to have."""
    text = read(page).replace("\\-", "-")

    check(len(names) >= least, f"{page}: only {len(names)} names are found in the sources")
    for name in names:
        check(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text), f"{page}: {name} is not there")


def main():
    """Everything; 1 where something is missing."""
    check_commands()
    check_json()
    header = read("userspace/libws/ws.h")
    calls = set(re.findall(r"^WS_API .*?\b(ws_\w+)\(", header, re.MULTILINE))
    check_names("docs/man/ws.3", calls | set(re.findall(r"struct (ws_\w+) \{", header)), 15)
    sysfs = read("module/sysfs.c")
    check_names("docs/man/wsfs.5", set(re.findall(r"^WSFS_\w*ATTR\((\w+)\)", sysfs, re.M)), 15)
    options = set(re.findall(r'fsparam_\w+\("(\w+)"', read("module/super.c")))
    check_names("docs/man/wsfs.5", options, 4)
    uapi = read("uapi/linux/write_streams.h") + read("uapi/linux/write_streams_numbered.h")
    check_names("docs/man/ioctl_write_stream.2", set(re.findall(r"#define (FS_\w+)", uapi)), 6)
    holdd = read("userspace/hold/main.cpp")
    longs = flags(read("docs/man/wsfs-holdd.8"))[0]
    for name in set(re.findall(r'word [!=]= "--(\w+)"', holdd)) - {"help", "version"}:
        check(name in longs, f"wsfs-holdd.8: --{name} is not there")
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
