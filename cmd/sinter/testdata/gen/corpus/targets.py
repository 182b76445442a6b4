"""Draws the files that queries of the evaluation corpus are written for.

usage: targets.py KIND

KIND is a kind of query. Prints all files that it may ask for in the order of the draw, and of each the passage to begin
reading at, so that neither the file nor the place in it is whoever writes the query's choice. The order is that of
hashes: it needs no generator of random numbers, of which another version might draw another one.
"""
import collections
import gzip
import hashlib
import json
import pathlib
import sys

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "corpus"
SEED = "dense"
SUFFIX = {"paraphrase": ".go", "identifier": ".go", "markdown": ".md"}


def number(*key):
    return int.from_bytes(hashlib.sha256(" ".join(key).encode()).digest())


def main(kind):
    lines = collections.defaultdict(list)
    with gzip.open(CORPUS / "chunks.jsonl.gz", "rt", encoding="utf-8") as f:
        for chunk in map(json.loads, f):
            if chunk["file"].endswith(SUFFIX[kind]):
                lines[chunk["file"]].append(chunk["line"])
    for place, file in enumerate(sorted(lines, key=lambda file: number(SEED, kind, file)), 1):
        at = number(SEED, kind, file, "passage") % len(lines[file])
        print(f"{place:3} {file}:{lines[file][at]}")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in SUFFIX:
        sys.exit(__doc__)
    main(sys.argv[1])
