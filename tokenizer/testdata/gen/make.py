"""Writes the small tokenizers of ../trained and ../stages.json.gz, and what the tokenizers library does with them.

    python make.py        # needs tokenizers 0.23 and sentencepiece 0.2

Everything random is seeded, but training may depend on the version of the library.
"""
import base64, gzip, io, json, pathlib, random, unicodedata

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
OUT = HERE.parent
LINES = (HERE / "text.txt").read_text(encoding="utf-8").splitlines()

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TRAILING = r"|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+" + TRAILING
QWEN2 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+" + TRAILING
CL100K = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]" + TRAILING
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = (r"[^\r\n\p{L}\p{N}]?" + UPPER + "*" + LOWER + "+" + CONTRACTIONS + r"?|[^\r\n\p{L}\p{N}]?" + UPPER + "+" + LOWER + "*" + CONTRACTIONS
         + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+" + TRAILING)
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"

EDGES = [
    "", " ", "     ", "\t", "\n", "\r\n", " \n ", "\n\n\n", " \t\n  x", "a\n\n  b", "a  \n  \n  b  ", "tab\there", "trailing  ", "  leading", "a\u00a0b\u3000c\u2003d\u2028e\u0085f\x0bg\x0ch",
    "\x00", "a\x00b", "\x01\x02abc", "a\x7fb\x8fc\x9fd", "\u200b\u200d\u200eab\ufeffc", "\x1e™\x1eg", "™\x1eg\x1e",
    "e\u0301", "e\u0327\u0301", "e\u0301\u0327", "é", "Å\u212b", "ö\u0323\u0308", "\u0301\u0302 x\u0301", "\u0344a\u0344", "a\u0f73b\u0f71\u0f72", "각\u1100\u1161\u11a8\u1100\u1161 한\u11af", "क\u093c क़ ड\u093c", "ﬁ ﬂ ① ㍿ ﷺ ½ Ａ１％ ｶﾞ",
    "ａ\u0301 ａ\u0327\u0301", "ﬁ\u0301", "a\u0301\u200db", "\u0600a \u0600é", "\u1100\u0301", "İstanbul ISTANBUL ıI ß ẞ Ⱥ ǅ ΣΑΣ", "Straße naïve ĲSSEL",
    "😀", "👍🏽", "👨‍👩‍👧‍👦 ok", "🇫🇷🇩🇪", "❤️", "1️⃣", "🏴\U000e0067\U000e0062\U000e007f", "\U0001f9ff\U0002000b\U000e0001\U0010ffff", "\ufffd\ufffe\uffff",
    "a" * 300, "ab" * 150 + " ba", "é" * 101, "漢字" * 60, " " * 70 + "x" + " " * 70, "\n" * 40, "1234567890" * 5, "0" * 99 + "x", "!?" * 40, "'" * 20, "x" * 63 + " " + "y" * 64 + " " + "z" * 65, "ab" * 24 + "c",
    "it's It'S IT'S they'Re you'LL I'D 's 'sx 'ſ 'ſa ''s don't've o'clock 'tis rock'n'roll", "'", "a'", "'S's", "x'ſy K'K", "l'été d'or",
    "1", "12", "123", "1234", "a1b22c333d4444", "٣٤٥ ೧೨ Ⅷ ² ¾ 五", " 1 22  333   4444", "3.14e-10", "2026-01-31T12:59:07Z",
    "HelloWorld HELLOworld helloWORLD ABCdef漢字AB ǅabc Ａbc", "A漢B字c漢D", "漢字かなカナ한글ไทยहिन्दीעבריתعربي", "mixedСмешанный漢字text", "ªº ʰello ʰHELLO ¹", "\u0301abc \u0301ABC \u0301 \u0301\u0301漢", "!\u0301abc",
    "!/path/to\r\n/file//\n\n x", "a\r\nb\rc\nd", "...\n...", " ...\n ", "\n\n x", " \n\n  x", "\u2028x \u2028 x", "a /b/ c\n/ d",
    "<s>", "</s>", "<s></s>", "a<s>b", "a <mask> b", "a  <mask>  b", "<mask>", "<mask><mask> x", "<unk>", "x<unk>y", "[UNK] [CLS] [SEP] [MASK]", "<|endoftext|>", "<|endoftext|> hi<|endoftext|>", "<pad>x", "<0x41>", "<0xFF>", "▁", "▁a ▁▁ b▁", "Ġ Ċ ĠaĠ", "|||IP_ADDRESS|||", "a    b        c                        d", "x\t\ty",
    "``quoted'' text", "&amp; <b>bold</b>", "https://example.org/a?b=c&d=%20e#f", "user@example.com", "C:\\Users\\x", "#!/bin/sh -e\nexit 0", "if (a<=b && c!=d) { return x[i]++; }",
]


def texts():
    """The edge texts, every line of the training text, and 300 random ones."""
    rnd = random.Random(7)
    pools = ["abcdefghij ABC '", "étéàüßñç œæ", "привет МИР", "漢字かなカナ한국어。、", "กขคงจฉ่้๊", "हिन्दीकख़्ष", "العربية ًٌٍ", "0123456789٣४½²", " \t\n\r\u00a0\u3000\u200b", ".,;:!?'\"()[]{}<>/\\|@#$%^&*-_=+~`",
             "😀👍🏽👨‍👩‍👧🇫🇷❤️", "e\u0301\u0327\u0302a\u0308\u0323", "\x00\x01\x1e\x7f\u200d\u200f\ufeff\ufffd", "ﬁﬂ①㍿ＡＢａ１％ｶﾞ™", "▁ĠĊ<s></s>"]
    out = EDGES + LINES
    for i in range(300):
        s = ""
        for _ in range(rnd.randint(1, 6)):
            pool = rnd.choice(pools)
            s += "".join(rnd.choice(pool) for _ in range(rnd.randint(1, 6)))
            if rnd.random() < 0.5:
                s += " "
        if rnd.random() < 0.1:
            s += "".join(chr(c) for c in (rnd.randrange(0x110000) for _ in range(4)) if unicodedata.category(chr(c)) not in ("Cs", "Cn"))
        out.append(s)
    return out


TEXTS = texts()


def charsmap():
    """SentencePiece's own table of nmt_nfkc, which XLM-R and T5 carry."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(LINES), model_writer=model, vocab_size=500, hard_vocab_limit=False, normalization_rule_name="nmt_nfkc", minloglevel=2)
    proto = sentencepiece.sentencepiece_model_pb2 if hasattr(sentencepiece, "sentencepiece_model_pb2") else None
    if proto is None:
        from sentencepiece import sentencepiece_model_pb2 as proto
    m = proto.ModelProto()
    m.ParseFromString(model.getvalue())
    return m.normalizer_spec.precompiled_charsmap


def special(*contents, **settings):
    return [AddedToken(c, special=True, normalized=False, **settings) for c in contents]


def train(tok, kind, size=700, **settings):
    kinds = {"bpe": trainers.BpeTrainer, "unigram": trainers.UnigramTrainer, "wordpiece": trainers.WordPieceTrainer}
    tok.train_from_iterator(LINES * 2, kinds[kind](vocab_size=size, show_progress=False, **settings))
    return tok


ALPHABET = pre_tokenizers.ByteLevel.alphabet()


def byte_level(normalizer, pre, size=700, specials=("<|endoftext|>",), **model):
    tok = Tokenizer(models.BPE(**model))
    if normalizer:
        tok.normalizer = normalizer
    tok.pre_tokenizer = pre
    tok.decoder = decoders.ByteLevel()
    return train(tok, "bpe", size, initial_alphabet=ALPHABET, special_tokens=special(*specials))


def split(pattern, *more):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), *more, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def template(tok, single, pair, *names):
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=[(n, tok.token_to_id(n)) for n in names])


def trained(cmap):
    """Name and tokenizer of each, in the configuration of the published model named."""
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok = byte_level(None, plain)
    tok.post_processor = processors.ByteLevel(trim_offsets=False)
    yield "gpt2", tok

    for name, prefix in ("roberta", False), ("roberta-prefix", True):
        tok = byte_level(None, pre_tokenizers.ByteLevel(add_prefix_space=prefix), specials=("<s>", "<pad>", "</s>", "<unk>"))
        tok.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=prefix)
        tok.add_special_tokens(special("<mask>", lstrip=True))
        yield name, tok

    tok = byte_level(normalizers.NFC(), plain, specials=("<|padding|>", "<|endoftext|>"))
    tok.add_tokens([AddedToken("|||IP_ADDRESS|||", normalized=True), AddedToken("|||EMAIL_ADDRESS|||", normalized=True)])
    tok.add_tokens([AddedToken(" " * n, normalized=True) for n in range(24, 1, -1)] + [AddedToken("\t" * n, normalized=True) for n in (4, 3, 2)])
    tok.add_special_tokens(special("[UNK]", "[CLS]", "[SEP]", "[PAD]") + special("[MASK]", lstrip=True))
    tok.post_processor = template(tok, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", "[CLS]", "[SEP]")
    yield "modernbert", tok

    tok = byte_level(None, split(LLAMA3), specials=("<|begin_of_text|>", "<|endoftext|>"), ignore_merges=True)
    tok.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), template(tok, "<|begin_of_text|> $A", "<|begin_of_text|> $A <|begin_of_text|>:1 $B:1", "<|begin_of_text|>")])
    yield "llama3", tok

    tok = byte_level(normalizers.NFC(), split(QWEN2))
    tok.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False)
    yield "qwen2", tok
    yield "cl100k", byte_level(None, split(CL100K))
    yield "o200k", byte_level(None, split(O200K))
    tok = byte_level(None, pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), plain]))
    tok.post_processor = processors.ByteLevel(add_prefix_space=True, trim_offsets=True)
    yield "smollm2", tok

    byte_tokens = [f"<0x{b:02X}>" for b in range(256)]
    for name, norm, pre in (
        ("llama2", normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), None),
        ("gemma", normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous")),
        ("mistral", None, pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)),
    ):
        tok = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
        if norm:
            tok.normalizer = norm
        # Trained on words: merges over whole lines would be few and long.
        tok.pre_tokenizer = pre_tokenizers.Metaspace()
        train(tok, "bpe", 900, special_tokens=special("<unk>", "<s>", "</s>", *byte_tokens), limit_alphabet=150)
        data = json.loads(tok.to_str())
        data["added_tokens"] = data["added_tokens"][:3]
        data["pre_tokenizer"] = None
        tok = Tokenizer.from_str(json.dumps(data))
        if pre:
            tok.pre_tokenizer = pre
        tok.post_processor = template(tok, "<s> $A", "<s> $A <s>:1 $B:1", "<s>")
        tok.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()] + ([decoders.Strip(" ", 1, 0)] if name != "gemma" else []))
        yield name, tok

    unigram_specials = special("<s>", "<pad>", "</s>", "<unk>")
    for name, norm, pre in (
        ("xlmr", normalizers.Precompiled(cmap), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])),
        ("bge-m3", normalizers.Sequence([normalizers.Precompiled(cmap), normalizers.Replace(Regex(" {2,}"), " ")]), pre_tokenizers.Metaspace()),
        ("albert", normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(),
                                         normalizers.Precompiled(cmap), normalizers.Replace(Regex(" {2,}"), " ")]), pre_tokenizers.Metaspace()),
        ("t5", normalizers.Sequence([normalizers.Precompiled(cmap), normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")]), pre_tokenizers.Metaspace(prepend_scheme="always")),
    ):
        tok = Tokenizer(models.Unigram())
        tok.normalizer, tok.pre_tokenizer = norm, pre
        train(tok, "unigram", 600, special_tokens=unigram_specials, unk_token="<unk>")
        tok.add_special_tokens(special("<mask>", lstrip=True))
        tok.post_processor = template(tok, "<s> $A </s>", "<s> $A </s> </s> $B </s>", "<s>", "</s>")
        tok.decoder = decoders.Metaspace()
        if name == "t5":  # as SentencePiece trains with byte_fallback
            data = json.loads(tok.to_str())
            data["model"]["vocab"] += [[t, -20.0] for t in byte_tokens]
            data["model"]["byte_fallback"] = True
            for t in data["added_tokens"]:
                if t["content"] == "<mask>":
                    t["id"] = len(data["model"]["vocab"])
            tok = Tokenizer.from_str(json.dumps(data))
        yield name, tok

    tok = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tok.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CLIP), "removed", invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    train(tok, "bpe", 800, special_tokens=special("<unk>", "<|endoftext|>"), end_of_word_suffix="</w>", initial_alphabet=ALPHABET)
    tok.decoder = decoders.BPEDecoder(suffix="</w>")
    yield "clip", tok

    tok = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", continuing_subword_prefix="@@"))
    tok.normalizer, tok.pre_tokenizer = normalizers.BertNormalizer(lowercase=False), pre_tokenizers.BertPreTokenizer()
    train(tok, "bpe", 700, special_tokens=special("<unk>"), end_of_word_suffix="</w>", continuing_subword_prefix="@@", limit_alphabet=120)
    yield "affixes", tok

    for name, lower in ("distilbert", True), ("mpnet", True):
        tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tok.normalizer, tok.pre_tokenizer = normalizers.BertNormalizer(lowercase=lower), pre_tokenizers.BertPreTokenizer()
        names = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if name == "distilbert" else ("<s>", "<pad>", "</s>", "[UNK]", "<mask>")
        train(tok, "wordpiece", 700, special_tokens=special(*names))
        if name == "distilbert":
            tok.post_processor = template(tok, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", "[CLS]", "[SEP]")
        else:
            tok.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
        tok.decoder = decoders.WordPiece()
        yield name, tok


def cases(tok, chosen, pairs):
    """Ids, offsets in code points and the decoded text of each text; for some a pair, and both cut."""
    out = []
    for i, text in enumerate(chosen):
        e = tok.encode(text)
        case = {"i": i, "ids": e.ids, "offsets": [x for o in e.offsets for x in o], "decoded": tok.decode(e.ids)}
        if pairs and i % 9 == 0:
            case["pair"] = (i * 7 + 11) % len(chosen)
            p = tok.encode(text, chosen[case["pair"]])
            case["pair_ids"], case["pair_types"], case["pair_offsets"] = p.ids, p.type_ids, [x for o in p.offsets for x in o]
            case["max"] = 5 + i % 23
            tok.enable_truncation(case["max"])
            case["max_ids"] = tok.encode(text).ids
            p = tok.encode(text, chosen[case["pair"]])
            case["max_pair_ids"], case["max_pair_offsets"] = p.ids, [x for o in p.offsets for x in o]
            tok.no_truncation()
        out.append(case)
    return out


def write(path, value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    with open(path, "wb") as f, gzip.GzipFile(filename="", mode="wb", fileobj=f, compresslevel=9, mtime=0) as z:
        z.write(text.encode("utf-8"))


def file_of(tok, cmap):
    """The tokenizer.json, without the table, which has a file of its own."""
    text = tok.to_str().replace(base64.b64encode(cmap).decode(), "nmt_nfkc")
    return json.loads(text)


def stages():
    """Stages with settings that no published file above has, each on a byte-level or a character BPE."""
    N, P = normalizers, pre_tokenizers
    for n in (N.NFC(), N.NFD(), N.NFKC(), N.NFKD(), N.Lowercase(), N.StripAccents(), N.Sequence([N.NFKD(), N.StripAccents(), N.Lowercase()]), N.Sequence([N.NFD(), N.NFC()]), N.Strip(), N.Strip(left=False, right=True), N.Nmt(), N.Prepend("▁▁"),
              N.Replace(Regex(r"\s+"), "_"), N.Replace("a", "éé"), N.Replace(Regex(r"^\S"), "> "), N.Replace(Regex(r"[aeiou]+$"), "<>"), N.Replace(Regex(r"\w\d"), ""), N.ByteLevel(), N.BertNormalizer(strip_accents=True, lowercase=False), N.Sequence([N.Nmt(), N.NFKC(), N.Replace(" ", "")])):
        yield n, None
    for b in "isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous":
        for invert in (False, True):
            yield None, P.Split(Regex(r"\s+|\d"), b, invert)
        yield None, P.Split("a", b)
        yield None, P.Punctuation(b)
    for p in (P.Whitespace(), P.WhitespaceSplit(), P.Digits(), P.Digits(individual_digits=True), P.ByteLevel(), P.ByteLevel(add_prefix_space=True, use_regex=False), P.Metaspace(), P.Metaspace("_", "never"), P.Metaspace("▁", "first"), P.Metaspace("▁", "always", split=False),
              P.Sequence([P.Punctuation("merged_with_next"), P.Metaspace("▁", "first")]), P.Sequence([P.Metaspace(), P.ByteLevel()]), P.Sequence([P.ByteLevel(), P.Digits()]), P.Sequence([P.Whitespace(), P.ByteLevel(add_prefix_space=True)]),
              P.Split(Regex(r" ?[^(\s|[.,!?…。，、।۔،])]+"), "isolated"), P.Split(Regex(r"[\s\p{P}]"), "removed"), P.Sequence([P.Split(Regex(GPT2), "contiguous"), P.BertPreTokenizer()])):
        yield None, p
    yield N.Strip(), P.Metaspace("▁", "first")
    yield N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")]), P.Split("▁", "merged_with_next")


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+" + TRAILING


def main():
    cmap = charsmap()
    (OUT / "nmt_nfkc.bin.gz").write_bytes(gzip.compress(cmap, 9, mtime=0))
    (OUT / "trained").mkdir(exist_ok=True)
    write(OUT / "texts.json.gz", TEXTS)
    for name, tok in trained(cmap):
        write(OUT / "trained" / (name + ".json.gz"), {"tokenizer": file_of(tok, cmap), "cases": cases(tok, TEXTS, True)})

    # A tokenizer whose tokens are characters shows what the stages did.
    chars = sorted({c for t in TEXTS for c in t} | {c for t in TEXTS for c in unicodedata.normalize("NFKD", t).lower()} | set(ALPHABET) | set("▁_<>"))
    vocab = {"<unk>": 0, **{c: i + 1 for i, c in enumerate(c for c in chars if c not in "xyz\u0302")}}
    base = Tokenizer(models.BPE(vocab=vocab, merges=[], unk_token="<unk>", fuse_unk=True))
    base.add_special_tokens(special("<s>", "</s>"))
    rnd = random.Random(3)
    out = []
    for n, p in stages():
        data = json.loads(base.to_str())
        tok = Tokenizer.from_str(json.dumps(data))
        if n:
            tok.normalizer = n
        if p:
            tok.pre_tokenizer = p
        made = json.loads(tok.to_str())
        words = []
        picked = sorted(rnd.sample(range(len(TEXTS)), 120))
        for i in picked:
            text = TEXTS[i]
            if len(text) > 120:
                continue
            e = tok.encode(text)
            words.append({"i": i, "ids": e.ids, "offsets": [x for o in e.offsets for x in o], "words": [-1 if w is None else w for w in e.word_ids]})
        out.append({"normalizer": made["normalizer"], "pre_tokenizer": made["pre_tokenizer"], "cases": words})
    write(OUT / "stages.json.gz", {"tokenizer": json.loads(base.to_str()), "stages": out})


main()
