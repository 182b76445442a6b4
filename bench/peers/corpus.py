"""Mixed texts: paragraphs of the comments of Go's own standard library, which is wherever Go is.

usage: corpus.py [COUNT]

Prints so many (1,000) as a JSON array: the first of a shuffle that is the same each time, so that they change with the
version of Go alone.
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys

COMMENT = re.compile(r"\s*// ?(.*)")


def paragraphs(file):
    """Comments of a file, lines joined, apart from short ones and licences; one that ends the file is left out."""
    lines = []
    for line in file.read_text(errors="ignore").splitlines():
        match = COMMENT.match(line)
        if match and match.group(1).strip():
            lines.append(match.group(1).strip())
            continue
        text, lines = " ".join(lines), []
        if len(text) > 40 and "Copyright" not in text and "license" not in text:
            yield text


def texts(count):
    root = subprocess.check_output(["go", "env", "GOROOT"], text=True).strip() + "/src"
    found = []
    for folder, _, files in sorted(os.walk(root)):
        if any(part in folder for part in ("/cmd", "testdata", "vendor")):
            continue
        for name in sorted(files):
            if name.endswith(".go") and not name.endswith("_test.go"):
                found += paragraphs(pathlib.Path(folder, name))
    random.Random(3).shuffle(found)
    return found[:count]


if __name__ == "__main__":
    json.dump(texts(int(sys.argv[1]) if len(sys.argv) > 1 else 1000), sys.stdout)
