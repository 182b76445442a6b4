"""Vectors of the evaluation corpus: passages and queries in double precision, kept as f16.

usage: vectors.py MODEL_FOLDER [REFERENCE_FOLDER]

MODEL_FOLDER is all-MiniLM-L6-v2 as published. REFERENCE_FOLDER holds embeddings.json, texts, and embeddings.safetensors,
their vectors; where it is given, they must come out the same first. Needs torch, transformers and safetensors.
"""
import gzip
import json
import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoTokenizer

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "corpus"
MAX_TOKENS = 256
BATCH = 32


class Encoder:
    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder, dtype=torch.float64).eval()

    def encode(self, texts):
        """The mean over tokens, of unit length. Texts of like length go together, which changes no vector."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        vectors = torch.empty(len(texts), self.model.config.hidden_size, dtype=torch.float64)
        with torch.inference_mode():
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                inputs = self.tokenizer(
                    [texts[i] for i in rows], padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt"
                )
                hidden = self.model(**inputs).last_hidden_state
                mask = inputs["attention_mask"].unsqueeze(-1).to(hidden.dtype)
                mean = (hidden * mask).sum(1) / mask.sum(1)
                vectors[rows] = torch.nn.functional.normalize(mean, dim=1)
        return vectors


def check(encoder, folder):
    texts = json.loads((folder / "embeddings.json").read_text())
    want = load_file(folder / "embeddings.safetensors")["embeddings"]
    worst = (encoder.encode(texts) - want).abs().max().item()
    print(f"reference: {len(texts)} texts, largest difference {worst:.1e}")
    if worst > 1e-12:
        sys.exit("the vectors are not those of the reference")


def main(model, reference=None):
    encoder = Encoder(model)
    if reference:
        check(encoder, pathlib.Path(reference))
    with gzip.open(CORPUS / "chunks.jsonl.gz", "rt", encoding="utf-8") as f:
        chunks = [json.loads(line)["text"] for line in f]
    queries = [json.loads(line)["text"] for line in (CORPUS / "queries.jsonl").read_text().splitlines()]
    vectors = {"chunks": encoder.encode(chunks), "queries": encoder.encode(queries)}
    save_file({name: v.to(torch.float16) for name, v in vectors.items()}, CORPUS / "vectors.safetensors")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
