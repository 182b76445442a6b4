"""Writes tiny random models, laid out as publishers lay theirs out, and what
they compute in float64: hidden states, embeddings, scores of pairs.

    python3 encoders.py DIR

makes DIR/encoders and DIR/crossencoders, a folder a model. Needs torch,
transformers, sentence-transformers and tokenizers.

Each folder holds the model, texts.json, a list of {text, prompt, ids} or
{query, text, ids, type_ids}, and reference.safetensors with, for text N,
hidden.N (of the last block) and embedding.N, or score.N.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import safetensors.torch
import torch
import transformers as tf
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = [
    "The river ran dry in August, and nobody who lived beside it was surprised.",
    "A function returns an error; the caller wraps it and says what it was doing.",
    "Bread needs flour, water, salt and time. Mostly time!",
    "Die Straße über den Fluss ist seit gestern gesperrt, sagt die Polizei.",
    "Où est la bibliothèque? Elle est derrière la gare, à gauche.",
    "func main() { fmt.Println(\"hello, world\") } // prints 42 lines",
    "Cells divide; tissue grows. In 1953 the structure was found.",
    "Le prix du blé a doublé en 2022 puis baissé de 30 %.",
]
TEXTS = [
    "", "a", "The bread was dry.", "Où est la rivière? 42 lines!", "errors: wrap & return (naïve) — 日本",
    "nobody was surprised " * 3 + "by the structure of the library behind the station.",
]
PAIRS = [
    ("where is the library?", "Elle est derrière la gare."), ("bread", "Bread needs flour, water, salt and time."),
    ("", "an empty question"), ("wheat price", ""), ("who prints 42 lines " * 3, "func main() prints hello, " * 4),
]


def train(tokenizer, trainer, specials, size):
    tokenizer.train_from_iterator(CORPUS * 4, trainer(vocab_size=size, special_tokens=specials, show_progress=False))
    return tokenizer


def fast(tokenizer, limit, **tokens):
    return tf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=limit, **tokens)


def wordpiece(limit, size=210):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    train(t, trainers.WordPieceTrainer, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], size)
    t.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    t.decoder = decoders.WordPiece()
    return fast(t, limit, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
                model_input_names=["input_ids", "token_type_ids", "attention_mask"])


def wordpiece_mpnet(limit, size=190):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    train(t, trainers.WordPieceTrainer, ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"], size)
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    return fast(t, limit, bos_token="<s>", pad_token="<pad>", eos_token="</s>", sep_token="</s>", cls_token="<s>", unk_token="[UNK]", mask_token="<mask>")


def bytes_roberta(limit, size=300):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(CORPUS * 4, trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    return fast(t, limit, bos_token="<s>", pad_token="<pad>", eos_token="</s>", sep_token="</s>", cls_token="<s>", unk_token="<unk>", mask_token="<mask>")


def bytes_modern(limit, size=310):
    t = Tokenizer(models.BPE())
    t.normalizer, t.pre_tokenizer = normalizers.NFC(), pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(CORPUS * 4, trainers.BpeTrainer(
        vocab_size=size, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:0 [SEP]:0", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    t.decoder = decoders.ByteLevel()
    return fast(t, limit, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")


def unigram(limit, size=180, second=0):
    t = Tokenizer(models.Unigram())
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")])
    t.train_from_iterator(CORPUS * 4, trainers.UnigramTrainer(
        vocab_size=size, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], unk_token="<unk>", show_progress=False))
    t.post_processor = processors.TemplateProcessing(
        single="<s>:0 $A:0 </s>:0", pair=f"<s>:0 $A:0 </s>:0 </s>:0 $B:{second} </s>:{second}", special_tokens=[("<s>", 0), ("</s>", 2)])
    t.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    return fast(t, limit, bos_token="<s>", pad_token="<pad>", eos_token="</s>", sep_token="</s>", cls_token="<s>", unk_token="<unk>", mask_token="<mask>")


def randomise(model):
    """Weights large enough that attention, norms and activations matter."""
    for name, p in model.named_parameters():
        with torch.no_grad():
            p.copy_(torch.randn_like(p) * (0.1 if p.dim() == 1 else 0.4 if "embeddings" in name else 0.8 / p.shape[-1] ** 0.5))
            if p.dim() == 1 and "norm" in name.lower() and "weight" in name:
                p.add_(1)
    return model.eval()


BERT = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40, max_position_embeddings=70)
ROBERTA = dict(hidden_size=20, num_hidden_layers=3, num_attention_heads=5, intermediate_size=36, max_position_embeddings=90, type_vocab_size=1,
               layer_norm_eps=1e-5, pad_token_id=1, bos_token_id=0, eos_token_id=2)
DISTIL = dict(dim=28, n_layers=2, n_heads=2, hidden_dim=44, max_position_embeddings=64)
MPNET = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32, max_position_embeddings=200, layer_norm_eps=1e-5,
             pad_token_id=1, bos_token_id=0, eos_token_id=2)
MODERN = dict(hidden_size=24, num_hidden_layers=4, num_attention_heads=2, intermediate_size=18, max_position_embeddings=128, local_attention=10,
              global_attn_every_n_layers=2, global_rope_theta=8000.0, local_rope_theta=500.0, pad_token_id=3, bos_token_id=1, eos_token_id=2,
              cls_token_id=1, sep_token_id=2)


def transformer(base, config, tokenizer, cls, tmp):
    model = randomise(cls(config))
    model.save_pretrained(tmp)
    tokenizer.save_pretrained(tmp)
    return model


# name: config, tokenizer, pooling, modules behind it, prompts, default prompt, files changed afterwards
def encoders():
    def cfg(kind, base, tok, **more):
        return kind(**{**base, "vocab_size": len(tok), **more})
    w, m, r, x, mo = wordpiece(48), wordpiece_mpnet(180), bytes_roberta(80), unigram(60), bytes_modern(100)
    e5 = {"query": "query: ", "passage": "passage: "}
    yield "bge", cfg(tf.BertConfig, BERT, w), w, "cls", [Normalize()], {}, None, [old_layout, old_norms]
    yield "e5", cfg(tf.BertConfig, BERT, w, hidden_act="gelu_new", type_vocab_size=1), w, "mean", [Normalize()], e5, "passage", []
    yield "poolings", cfg(tf.BertConfig, BERT, w, num_hidden_layers=1), w, ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"), [Normalize()], {}, None, []
    yield "distilbert", cfg(tf.DistilBertConfig, DISTIL, w), w, "mean", [Dense(28, 10)], {}, None, [old_layout, prefix("distilbert.")]
    yield "distilbert-dense", cfg(tf.DistilBertConfig, DISTIL, w, activation="relu", sinusoidal_pos_embds=True), w, "lasttoken", [
        Dense(28, 12, bias=False, activation_function=torch.nn.Identity(), use_residual=True), Dense(12, 12, activation_function=torch.nn.GELU(), use_residual=True), Normalize()], {}, None, [half(torch.float16)]
    yield "roberta", cfg(tf.RobertaConfig, ROBERTA, r), r, "mean", [Normalize()], {}, None, [old_layout, prefix("roberta.")]
    yield "multilingual-e5", cfg(tf.XLMRobertaConfig, ROBERTA, x), x, "mean", [Normalize()], e5, None, [shards]
    yield "mpnet", cfg(tf.MPNetConfig, MPNET, m), m, "mean", [Normalize()], {}, None, [old_layout]
    yield "modernbert", cfg(tf.ModernBertConfig, MODERN, mo), mo, "mean", [Normalize()], {"query": "search_query: ", "document": "search_document: "}, None, [old_modern, half(torch.bfloat16)]
    yield "modernbert-biases", cfg(tf.ModernBertConfig, MODERN, mo, norm_bias=True, attention_bias=True, mlp_bias=True, hidden_activation="silu", local_attention=7, hidden_size=20, num_attention_heads=5,
                                   layer_types=["sliding_attention", "full_attention", "sliding_attention", "sliding_attention"]), mo, "cls", [Normalize()], {}, None, [prefix("model.")]


def crossencoders():
    def cfg(kind, base, tok, **more):
        return kind(**{**base, "vocab_size": len(tok), "num_labels": 1, **more})
    w, m, r, x, mo = wordpiece(48), wordpiece_mpnet(180), bytes_roberta(80), unigram(60), bytes_modern(100)
    yield "bert", cfg(tf.BertConfig, BERT, w), w, torch.nn.Identity(), [old_activation]
    x2 = unigram(60, second=1)  # its types, of which no network is told
    yield "bert-untyped", cfg(tf.BertConfig, BERT, x2), x2, None, [plain]
    yield "roberta", cfg(tf.RobertaConfig, ROBERTA, r), r, None, []
    yield "xlm-roberta", cfg(tf.XLMRobertaConfig, ROBERTA, x), x, None, [plain, half(torch.float16)]
    yield "distilbert", cfg(tf.DistilBertConfig, DISTIL, w), w, torch.nn.Sigmoid(), []
    yield "mpnet", cfg(tf.MPNetConfig, MPNET, m), m, torch.nn.Identity(), []
    yield "modernbert", cfg(tf.ModernBertConfig, MODERN, mo, classifier_pooling="mean"), mo, None, [plain]
    yield "modernbert-biases", cfg(tf.ModernBertConfig, MODERN, mo, num_hidden_layers=2, norm_bias=True, classifier_bias=True, classifier_activation="silu"), mo, torch.nn.Identity(), []


def rewrite(path, change):
    value = json.loads(path.read_text())
    path.write_text(json.dumps(change(value) or value, indent=2) + "\n")


def old_layout(out):
    """The files as sentence-transformers wrote them before version 6."""
    def modules(ms):
        for m in ms:
            m["type"] = "sentence_transformers.models." + m["type"].split(".")[-1]
    rewrite(out / "modules.json", modules)
    modes = {"cls": "cls_token", "max": "max_tokens", "mean": "mean_tokens", "mean_sqrt_len_tokens": "mean_sqrt_len_tokens", "weightedmean": "weightedmean_tokens", "lasttoken": "lasttoken"}
    rewrite(out / "1_Pooling/config.json", lambda c: {
        "word_embedding_dimension": c["embedding_dimension"], **{"pooling_mode_" + v: c["pooling_mode"] == k for k, v in modes.items()}})
    tokens = json.loads((out / "tokenizer_config.json").read_text())["model_max_length"]
    (out / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": tokens - 3, "do_lower_case": False}))
    (out / "config_sentence_transformers.json").unlink()


def reweigh(out, change):
    file = out / "model.safetensors"
    safetensors.torch.save_file(change(safetensors.torch.load_file(file)), file, metadata={"format": "pt"})


def prefix(p):
    return lambda out: reweigh(out, lambda w: {p + k: v for k, v in w.items()})


def half(dtype):
    return lambda out: reweigh(out, lambda w: {k: v.to(dtype) for k, v in w.items()})


def old_norms(out):
    """What files converted from TensorFlow call the weights of norms."""
    def rename(k):
        return k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    reweigh(out, lambda w: {"bert." + rename(k): v for k, v in w.items()})


def shards(out):
    w = safetensors.torch.load_file(out / "model.safetensors")
    names, of = sorted(w), {}
    for i, part in enumerate((names[::2], names[1::2])):
        file = f"model-{i + 1:05}-of-00002.safetensors"
        safetensors.torch.save_file({n: w[n] for n in part}, out / file, metadata={"format": "pt"})
        of.update({n: file for n in part})
    (out / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": of}, indent=1))
    (out / "model.safetensors").unlink()


def old_modern(out):
    """config.json of ModernBERT as it was before transformers 5."""
    def config(c):
        rope = c.pop("rope_parameters")
        c.pop("layer_types")
        c.update(global_rope_theta=rope["full_attention"]["rope_theta"], local_rope_theta=rope["sliding_attention"]["rope_theta"],
                 global_attn_every_n_layers=2, position_embedding_type="absolute", reference_compile=None, repad_logits_with_grad=False)
    rewrite(out / "config.json", config)


def old_activation(out):
    """The activation where cross-encoders had it before sentence-transformers 6."""
    plain(out)
    def config(c):
        c["sentence_transformers"] = {"activation_fn": "torch.nn.modules.linear.Identity", "version": "4.0.1"}
    rewrite(out / "config.json", config)


def plain(out):
    """A cross-encoder as transformers alone saves it."""
    for f in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
        (out / f).unlink(missing_ok=True)
    rewrite(out / "config.json", lambda c: c.pop("sentence_transformers", None) and None)


def finish(out, texts, tensors):
    (out / "README.md").unlink(missing_ok=True)
    (out / "texts.json").write_text(json.dumps(texts, ensure_ascii=False, indent=0) + "\n")
    safetensors.torch.save_file({k: v.contiguous() for k, v in tensors.items()}, out / "reference.safetensors")


def make_encoder(out, config, tokenizer, pooling, behind, prompts, default, changes):
    with tempfile.TemporaryDirectory() as tmp:
        transformer(None, config, tokenizer, tf.MODEL_MAPPING[type(config)], tmp)
        t = Transformer(tmp)
        for d in behind:
            if isinstance(d, Dense):
                randomise(d)
        SentenceTransformer(modules=[t, Pooling(t.get_embedding_dimension(), pooling), *behind], prompts=prompts, default_prompt_name=default, device="cpu").save(str(out))
    for c in changes:
        c(out)
    check = SentenceTransformer(str(out), device="cpu").double().eval()
    cases, tensors = [], {}
    rows = [(t, None) for t in TEXTS] + [(TEXTS[2], p) for p in prompts]
    if config.model_type == "mpnet":  # distances in the last buckets
        rows.append((" ".join(CORPUS)[:480], None))
    for n, (text, prompt) in enumerate(rows):
        before = prompts.get(prompt or default, "")
        with torch.no_grad():
            ids = check.tokenizer(before + text, truncation=True, max_length=check.max_seq_length, return_tensors="pt")
            tensors[f"hidden.{n}"] = check[0].model(input_ids=ids["input_ids"], attention_mask=ids["attention_mask"]).last_hidden_state[0]
        tensors[f"embedding.{n}"] = torch.from_numpy(check.encode(text, prompt_name=prompt))
        assert tensors[f"embedding.{n}"].dtype == torch.float64
        cases.append({"text": text, "prompt": prompt, "ids": ids["input_ids"][0].tolist()})
    finish(out, cases, tensors)


def make_crossencoder(out, config, tokenizer, activation, changes):
    with tempfile.TemporaryDirectory() as tmp:
        transformer(None, config, tokenizer, tf.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING[type(config)], tmp)
        CrossEncoder(tmp, device="cpu", activation_fn=activation).save(str(out))
    for c in changes:
        c(out)
    check = CrossEncoder(str(out), device="cpu")
    check.model.double().eval()
    cases, tensors = [], {}
    for n, (query, text) in enumerate(PAIRS):
        ids = check.tokenizer([query], [text], truncation=True, max_length=check.max_seq_length, return_token_type_ids=True)
        tensors[f"score.{n}"] = check.predict([(query, text)], convert_to_tensor=True)
        assert tensors[f"score.{n}"].dtype == torch.float64
        cases.append({"query": query, "text": text, "ids": ids["input_ids"][0], "type_ids": ids["token_type_ids"][0]})
    finish(out, cases, tensors)


def main():
    root = Path(sys.argv[1])
    for kind, all_of, make in (("encoders", encoders, make_encoder), ("crossencoders", crossencoders, make_crossencoder)):
        for name, *rest in all_of():
            torch.manual_seed(sum(map(ord, name)))
            out = root / kind / name
            shutil.rmtree(out, ignore_errors=True)
            make(out, *rest)
            print(out, sum(f.stat().st_size for f in out.rglob("*") if f.is_file()))


main()
