package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// statusCase is a run of the command, the status that it ends with and what it
// says.
type statusCase struct {
	name   string
	env    environment
	stdin  string
	args   []string
	status int
	say    string // in what goes to standard error
}

func checkStatus(t *testing.T, cases []statusCase) {
	t.Helper()
	t.Setenv("HF_HUB_CACHE", t.TempDir())
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, stdout, stderr := runCommand(t, c.env, c.stdin, c.args...)
			if status != c.status || !strings.Contains(stderr, c.say) || c.say == "" && status == 0 && stderr != "" {
				t.Errorf("status %d, want %d; standard error:\n%s", status, c.status, stderr)
			}
			if status == 2 && (stdout != "" || !strings.Contains(stderr, "-h' for help")) {
				t.Errorf("a fault of usage gives no hint, or output:\n%s%s", stderr, stdout)
			}
		})
	}
}

// What all commands share: their names, flags and variables, and help.
func TestStatus(t *testing.T) {
	model := tiny(t, nil)
	checkStatus(t, []statusCase{
		{"no command", nil, "", nil, 2, "give a command"},
		{"unknown command", nil, "", []string{"frobnicate"}, 2, `no command "frobnicate": there are bench`},
		{"a later command", nil, "", []string{"quantize"}, 2, `no command "quantize"`},
		{"a ranking of nobody", nil, "", []string{"search", "--rank", "luck", "x"}, 2, "use hybrid, vectors or words"},
		{"a score beyond all", nil, "", []string{"search", "--min-score", "70", "x"}, 2, "no score is above 1"},
		{"lines less than none", nil, "", []string{"search", "-C", "-1", "x"}, 2, "--context -1"},
		{"two forms", nil, "", []string{"search", "-l", "--vimgrep", "x"}, 2, "-l and --vimgrep"},
		{"two forms, one JSON", nil, "", []string{"search", "--json", "--vimgrep", "x"}, 2, "--vimgrep and --json"},
		{"lines around paths", nil, "", []string{"search", "-C", "0", "-l", "x"}, 2, "-C is about passages"},
		{"zero bytes after passages", nil, "", []string{"search", "-0", "x"}, 2, "-0 is about the paths"},
		{"zero bytes and JSON", nil, "", []string{"search", "-0", "-l", "--json", "x"}, 2, "-0 and --json"},
		{"colours sometimes", nil, "", []string{"search", "--color", "sometimes", "x"}, 2, "use auto, always or never"},
		{"links sometimes", nil, "", []string{"search", "--hyperlink", "sometimes", "x"}, 2, "use auto, always or never"},
		{"files of a search", nil, "", []string{"search", "--files", "-l"}, 2, "leave out --files-with-matches"},
		{"nearly a command", nil, "", []string{"tokenise", "x"}, 2, "did you mean tokenize?"},
		{"unknown flag", nil, "", []string{"embed", "--frob"}, 2, "sinter embed -h"},
		{"a command without a name", nil, "", []string{""}, 2, "name of a command is empty"},
		{"a flag in capitals", nil, "", []string{"embed", "--JSON", "x"}, 2, "no flag --JSON: did you mean --json?"},
		{"letters of a flag that changed places", nil, "", []string{"embed", "--josn", "x"}, 2, "no flag --josn: did you mean --json?"},
		{"another letter in a flag", nil, "", []string{"embed", "--devise", "cpu", "x"}, 2, "no flag --devise: did you mean --device?"},
		{"a flag without a letter", nil, "", []string{"embed", "--treads", "2", "x"}, 2, "no flag --treads: did you mean --threads?"},
		{"two slips", nil, "", []string{"embed", "--treds", "2", "x"}, 2, "no flag --treds: put -- before"},
		{"a flag cut short", nil, "", []string{"embed", "--thread", "2"}, 2, "no flag --thread: did you mean --threads?"},
		{"a letter of no flag", nil, "", []string{"embed", "-x"}, 2, "no flag -x"},
		{"a letter among others", nil, "", []string{"search", "-0lx"}, 2, "no flag -x"},
		{"a flag of neither true nor false", nil, "", []string{"embed", "--json=maybe"}, 2, `--json "maybe": use true or false`},
		{"a flag of no fraction", nil, "", []string{"embed", "--threads", "1.5"}, 2, `--threads "1.5": use a whole number`},
		{"a threshold that is a file", nil, "", []string{"similarity", "--dedup", "x.txt"}, 2, `--dedup "x.txt": use a number`},
		{"arguments of device", nil, "", []string{"device", "cpu"}, 2, `sinter device takes no arguments: there is "cpu"`},
		{"a shell of nobody", nil, "", []string{"completion", "tcsh"}, 2, `no command "tcsh": there are bash, fish`},
		{"no shell", nil, "", []string{"completion"}, 2, "give a shell"},
		{"arguments of a shell", nil, "", []string{"completion", "bash", "x"}, 2, "takes no arguments"},
		{"settings of nothing", nil, "", []string{"config", "frob"}, 2, `no command "frob"`},
		{"settings of an argument", nil, "", []string{"config", "search", "x"}, 2, `sinter search has no command "x"`},
		{"no folder for manuals", nil, "", []string{"man"}, 2, "give the folder"},
		{"an empty folder for manuals", nil, "", []string{"man", ""}, 2, "give the folder"},
		{"shapes of two numbers", nil, "", []string{"bench", "gemm", "--shape", "3x4"}, 2, "use MxNxK"},
		{"graph of two arguments", nil, "", []string{"graph", "a", "b"}, 2, "give one model"},
		{"flag without value", nil, "", []string{"embed", "--model"}, 2, "--model is without a value: give a text"},
		{"a flag that is no number", nil, "", []string{"embed", "--threads", "many"}, 2, "threads"},
		{"no threads", nil, "", []string{"embed", "--threads", "0"}, 2, "--threads 0"},
		{"empty model", nil, "", []string{"embed", "--model", ""}, 2, "--model is empty"},
		{"dtype of nobody", nil, "", []string{"embed", "--dtype", "f7"}, 2, "use f32, tf32, bf16, f16, int8, int4"},
		{"dtype of nothing", nil, "", []string{"embed", "--dtype", ""}, 2, "use f32, tf32, bf16, f16, int8, int4"},
		{"bf16", nil, "", []string{"embed", "--dtype", "bf16", "--model", model, "x"}, 0, ""},
		{"tf32", nil, "", []string{"embed", "--dtype", "tf32", "--model", model, "x"}, 0, ""},
		{"f16", nil, "", []string{"embed", "--dtype", "f16", "--model", model, "x"}, 0, ""},
		{"products of no processor", nil, "", []string{"bench", "gemm", "--dtype", "tf32"}, 2, "use f32, bf16, int8"},
		{"int8", nil, "", []string{"embed", "--dtype", "int8", "--model", model, "x"}, 0, ""},
		{"attention in bytes", nil, "", []string{"bench", "attention", "--dtype", "int8"}, 2, "attention computes in f32 or bf16, not in int8"},
		{"what computes in f32 alone", nil, "", []string{"bench", "fused", "--dtype", "int8"}, 2, "fused computes in f32, not in int8"},
		{"unknown device", nil, "", []string{"embed", "--device", "abacus", "x"}, 2, `--device: no device "abacus"`},
		{"unknown device, by variable", environment{"SINTER_DEVICE": "abacus"}, "", []string{"embed", "x"}, 2, "SINTER_DEVICE: no device"},
		{"threads, by variable", environment{"SINTER_THREADS": "-1"}, "", []string{"embed", "x"}, 2, "SINTER_THREADS"},
		{"instruction set of nobody", environment{"SINTER_CPU": "mmx"}, "", []string{"embed", "x"}, 2, "SINTER_CPU"},
		{"unknown pass", environment{"SINTER_NOOPT": "fma,frob"}, "", []string{"embed", "x"}, 2, `SINTER_NOOPT: no pass "frob"`},
		{"a variable that a flag goes before", environment{"SINTER_DEVICE": "abacus"}, "", []string{"embed", "--device", "cpu", "--model", model, "x"}, 0, ""},
		{"all passes off", environment{"SINTER_NOOPT": "all"}, "", []string{"embed", "--model", model, "x"}, 0, ""},
		{"some passes off", environment{"SINTER_NOOPT": "fma, fuse,simplify/add-zero"}, "", []string{"embed", "--model", model, "x"}, 0, ""},
		{"Go code alone", environment{"SINTER_CPU": "generic", "SINTER_THREADS": "1"}, "", []string{"embed", "--model", model, "x"}, 0, ""},
		{"help", nil, "", []string{"help", "bench", "gemm"}, 0, ""},
		{"help for nothing", nil, "", []string{"help", "nosuch"}, 2, "nosuch"},
		{"help for an argument", nil, "", []string{"help", "search", "x"}, 2, "no command"},
	})
}

func TestStatusEmbed(t *testing.T) {
	model := tiny(t, nil)
	empty := t.TempDir()
	checkStatus(t, []statusCase{
		{"embed", nil, "", []string{"embed", "--model", model, "x", "y"}, 0, ""},
		{"flags behind arguments", nil, "", []string{"embed", "x", "--model", model, "y"}, 0, ""},
		{"embed nothing", nil, "", []string{"embed", "--model", model}, 0, ""},
		{"embed an empty text", nil, "", []string{"embed", "--model", model, ""}, 0, ""},
		{"jsonl and arguments", nil, "", []string{"embed", "--model", model, "--jsonl", "x"}, 2, "--jsonl"},
		{"no JSON", nil, "\"a\"\nb\n", []string{"embed", "--model", model, "--jsonl"}, 1, "line 2: not a JSON string"},
		{"null is no text", nil, "null\n", []string{"embed", "--model", model, "--jsonl"}, 1, "line 1: not a JSON string"},
		{"JSON is UTF-8", nil, "\"a\xffb\"\n", []string{"tokenize", "--model", model, "--jsonl"}, 1, "line 1: not a JSON string"},
		{"a broken JSON string", nil, "\"a\n", []string{"tokenize", "--model", model, "--jsonl"}, 1, "line 1: not a JSON string"},
		{"invalid UTF-8", nil, "", []string{"embed", "--model", model, "caf\xe9"}, 0, "text 0"},
		{"invalid UTF-8, quiet", nil, "", []string{"embed", "--quiet", "--model", model, "caf\xe9"}, 0, ""},
		{"a text that is cut", nil, "a\n" + strings.Repeat("word ", tinyTokens) + "\n", []string{"embed", "--model", model}, 0, "texts cut to the 48 tokens that the model takes: 1, the first is text 1"},
		{"a text that just fits", nil, strings.Repeat("word ", tinyTokens-2), []string{"embed", "--model", model}, 0, ""},
		{"a text that is cut, quiet", nil, "", []string{"embed", "--quiet", "--model", model, strings.Repeat("word ", tinyTokens)}, 0, ""},
		{"format of nobody", nil, "", []string{"embed", "--format", "csv", "x"}, 2, "use jsonl or npy"},
		{"NumPy as JSON", nil, "", []string{"embed", "--format", "npy", "--json", "x"}, 2, "leave --json out"},
		{"output without a name", nil, "", []string{"embed", "-o", "", "x"}, 2, "--output is empty"},
		{"output into a folder", nil, "", []string{"embed", "--model", model, "-o", empty, "x"}, 2, "is a folder"},
		{"output in no folder", nil, "", []string{"embed", "--model", model, "-o", filepath.Join(empty, "no", "x"), "x"}, 1, "no such"},
		{"vectors of nothing", nil, "", []string{"embed", "--dim", "0", "x"}, 2, "--dim 0"},
		{"shorter vectors", nil, "", []string{"embed", "--model", model, "--dim", "8", "x"}, 2, "add --any-dim"},
		{"shorter vectors all the same", nil, "", []string{"embed", "--model", model, "--dim", "8", "--any-dim", "x"}, 0, ""},
		{"longer vectors", nil, "", []string{"embed", "--model", model, "--dim", "800", "--any-dim", "x"}, 1, "cannot be made of 32"},
		{"any size of none", nil, "", []string{"embed", "--any-dim", "x"}, 2, "--dim"},
	})
}

func TestStatusSimilarity(t *testing.T) {
	model := tiny(t, nil)
	empty := t.TempDir()
	checkStatus(t, []statusCase{
		{"similarity of nothing", nil, "", []string{"similarity"}, 2, "give one file"},
		{"similarity of two files", nil, "", []string{"similarity", "a", "b"}, 2, "there are 2 arguments"},
		{"similarity of no file", nil, "", []string{"similarity", filepath.Join(empty, "nowhere")}, 1, "nowhere"},
		{"similarity of a folder", nil, "", []string{"similarity", empty}, 2, "is a folder"},
		{"similarity of input", nil, "a\nb\n", []string{"similarity", "--model", model, "-"}, 0, ""},
		{"similarity of no texts", nil, "", []string{"similarity", "--model", model, "-"}, 0, ""},
		{"a picture of no texts", nil, "", []string{"similarity", "--model", model, "--png", filepath.Join(empty, "x.png"), "-"}, 1, "no texts"},
		{"a picture of too many", nil, strings.Repeat("a\n", maxMatrixPNG+1), []string{"similarity", "--model", model, "--png", filepath.Join(empty, "x.png"), "-"}, 1, "2001 texts are too many"},
		{"groups above 1", nil, "", []string{"similarity", "--dedup", "1.1", "-"}, 2, "from -1 to 1"},
		{"groups of no number", nil, "", []string{"similarity", "--dedup", "nan", "-"}, 2, "from -1 to 1"},
		{"groups drawn", nil, "", []string{"similarity", "--dedup", "0.9", "--png", "x.png", "-"}, 2, "give one"},
		{"a picture as JSON", nil, "", []string{"similarity", "--json", "--png", "x.png", "-"}, 2, "give one"},
		{"a picture and a matrix in one", nil, "", []string{"similarity", "--png", "x", "--npy", "x", "-"}, 2, "give two"},
		{"a picture in a folder's place", nil, "", []string{"similarity", "--model", model, "--png", empty, "-"}, 2, "--png: output"},
		{"a picture without a name", nil, "", []string{"similarity", "--png", "", "-"}, 2, "--png is empty"},
	})
}

// Models that are not there, or not whole.
func TestStatusModels(t *testing.T) {
	empty := t.TempDir()
	without := func(file string) string {
		return tiny(t, func(name string, data []byte) []byte {
			if name == file {
				return nil
			}
			return data
		})
	}
	truncated := func(file string, n int) string {
		return tiny(t, func(name string, data []byte) []byte {
			if name == file {
				return data[:n]
			}
			return data
		})
	}
	checkStatus(t, []statusCase{
		{"no such model", nil, "", []string{"embed", "--model", "no/where/at/all", "x"}, 1, "no/where/at/all"},
		{"an empty folder", nil, "", []string{"embed", "--model", empty, "x"}, 1, "config.json"},
		{"tokens of an empty folder", nil, "", []string{"tokenize", "--model", empty, "x"}, 1, "tokenizer.json"},
		{"no tokenizer", nil, "", []string{"embed", "--model", without("tokenizer.json"), "x"}, 1, "tokenizer.json"},
		{"no weights", nil, "", []string{"embed", "--model", without("model.safetensors"), "x"}, 1, "model.safetensors"},
		{"weights cut", nil, "", []string{"embed", "--model", truncated("model.safetensors", 5000), "x"}, 1, "model.safetensors"},
		{"weights of 3 bytes", nil, "", []string{"search", "--model", truncated("model.safetensors", 3), "x", empty}, 1, "model.safetensors"},
		{"configuration cut", nil, "", []string{"graph", truncated("config.json", 50)}, 1, "config.json"},
		{"tokenizer cut", nil, "", []string{"tokenize", "--model", truncated("tokenizer.json", 5000), "x"}, 1, "tokenizer.json"},
	})
}

func TestStatusSearch(t *testing.T) {
	model := tiny(t, nil)
	empty := t.TempDir()
	checkStatus(t, []statusCase{
		{"no query", nil, "", []string{"search"}, 2, "give a query"},
		{"empty query", nil, "", []string{"search", " "}, 2, "the query is empty"},
		{"a query like a flag", nil, "", []string{"search", "-x"}, 2, "no flag -x: put -- before"},
		{"a text like a flag", nil, "", []string{"embed", "--text"}, 2, "no flag --text: put -- before"},
		{"a file like a flag", nil, "", []string{"similarity", "-x"}, 2, "no flag -x\n"},
		{"an empty path", nil, "", []string{"search", "x", "docs", ""}, 2, "PATH 2 is empty"},
		{"an empty path to list", nil, "", []string{"search", "--files", ""}, 2, "PATH 1 is empty"},
		{"threads of no number", environment{"SINTER_THREADS": "all"}, "", []string{"embed", "x"}, 2, `SINTER_THREADS: "all": use a whole number`},
		{"query of no UTF-8", nil, "", []string{"search", "\xff"}, 2, "not valid UTF-8"},
		{"no results wanted", nil, "", []string{"search", "--top", "0", "x"}, 2, "--top 0"},
		{"rerank", nil, "", []string{"search", "--rerank", "x"}, 1, "wants a cross-encoder"},
		{"a bad glob", nil, "", []string{"search", "-g", "[", "x"}, 2, `-g: glob "[": [ without ]: write \[`},
		{"an unknown type", nil, "", []string{"search", "-t", "golang", "x"}, 2, `no type "golang": there are asciidoc,`},
		{"an unknown type to leave out", nil, "", []string{"search", "--files", "-T", ""}, 2, `no type ""`},
		{"a size of no unit", nil, "", []string{"search", "--max-filesize", "2m", "x"}, 2, "such as 500K"},
		{"a size of nothing", nil, "", []string{"search", "--files", "--max-filesize", "0K"}, 2, "at least 1"},
		{"a size of too much", nil, "", []string{"search", "--max-filesize", "9999999999G", "x"}, 2, "too large"},
		{"zero bytes between results", nil, "", []string{"search", "-0", "x"}, 2, "--files"},
		{"zero bytes and JSON", nil, "", []string{"search", "--files", "-0", "--json"}, 2, "give one"},
		{"files of no such path", nil, "", []string{"search", "--files", filepath.Join(empty, "nowhere")}, 1, "nowhere"},
		{"no files", nil, "", []string{"search", "--files", empty}, 0, ""},
		{"an index of no name", nil, "", []string{"search", "--model", model, "--index", "", "x", empty}, 2, "--index is empty"},
		{"an index of no name to forget", nil, "", []string{"index", "prune", "--all", "--index", ""}, 2, "--index is empty"},
		{"an index of no name to show", nil, "", []string{"index", "status", "--index", ""}, 2, "--index is empty"},
		{"index and none", nil, "", []string{"search", "--index", empty, "--no-index", "x"}, 2, "--no-index"},
		{"no such path", nil, "", []string{"search", "--model", model, "x", filepath.Join(empty, "nowhere")}, 1, "nowhere"},
		{"nothing in a file", nil, "", []string{"search", "--model", model, "--no-index", "--rank", "words", "xyzzy", filepath.Join(model, "config.json")}, 0, "nothing found in 1 file\n"},
		{"nothing to search", nil, "", []string{"search", "--model", model, "x", empty}, 0, "nothing found in"},
	})
}

func TestStatusGraph(t *testing.T) {
	model := tiny(t, nil)
	empty := t.TempDir()
	checkStatus(t, []statusCase{
		{"graph of two models", nil, "", []string{"graph", model, "--model", empty}, 2, "give one"},
		{"no such stage", nil, "", []string{"graph", model, "--stage", "dream"}, 2, "--stage"},
		{"a stage the device lacks", nil, "", []string{"graph", model, "--stage", "loops", "--device", "interp"}, 1, "--device cpu"},
		{"page of a later stage", nil, "", []string{"graph", model, "--html", "x.html", "--stage", "plan"}, 2, "--html"},
		{"page and drawing", nil, "", []string{"graph", model, "--html", "x.html", "--dot"}, 2, "give one"},
		{"page as JSON", nil, "", []string{"graph", model, "--html", "x.html", "--json"}, 2, "give one"},
		{"page in no folder", nil, "", []string{"graph", model, "--html", "no/such/x.html"}, 1, "no/such"},
		{"drawing of a later stage", nil, "", []string{"graph", model, "--dot", "--stage", "plan"}, 2, "--dot"},
		{"profile of a stage", nil, "", []string{"graph", model, "--profile", "--stage", "plan"}, 2, "give one"},
		{"profile of no texts", nil, "", []string{"graph", model, "--profile", "--batch", "0"}, 2, "--batch"},
		{"profile of long texts", nil, "", []string{"graph", model, "--profile", "--tokens", "100000"}, 2, "takes up to"},
		{"profile without clocks", nil, "", []string{"graph", model, "--profile", "--tokens", "3", "--device", "interp"}, 1, "--device cpu"},
		{"timeline of nothing", nil, "", []string{"graph", model, "--timeline", "x.json"}, 2, "--profile"},
		{"a page of no name", nil, "", []string{"graph", model, "--html", ""}, 2, "--html is empty"},
		{"a timeline of no name", nil, "", []string{"graph", model, "--profile", "--timeline", ""}, 2, "--timeline is empty"},
		{"a page and a timeline in one", nil, "", []string{"graph", model, "--profile", "--html", "x", "--timeline", "x"}, 2, "give two"},
		{"a page nowhere", nil, "", []string{"graph", model, "--profile", "--html", "no/such/x"}, 1, "--html"},
		{"a page of long texts", nil, "", []string{"graph", model, "--html", "x", "--tokens", "100000"}, 2, "takes up to"},
		{"drawing as JSON", nil, "", []string{"graph", model, "--dot", "--json"}, 2, "give one"},
	})
}

func TestStatusBench(t *testing.T) {
	checkStatus(t, []statusCase{
		{"device with arguments", nil, "", []string{"device", "cpu"}, 2, ""},
		{"no benchmark", nil, "", []string{"bench"}, 2, "gemm, fused, attention, embed, train or compile"},
		{"unknown benchmark", nil, "", []string{"bench", "conv"}, 2, `no benchmark "conv"`},
		{"benchmark of interp", nil, "", []string{"bench", "gemm", "--device", "interp"}, 2, "measures the cpu, not interp: use bench embed"},
		{"instruction sets of interp", nil, "", []string{"bench", "embed", "--device", "interp", "--isa", "avx2"}, 2, "--isa is for the cpu"},
		{"benchmark above SINTER_CPU", environment{"SINTER_CPU": "generic"}, "", []string{"bench", "gemm", "--isa", "avx512"}, 2, "--isa"},
		{"fewer than no shapes", nil, "", []string{"bench", "gemm", "--draw", "-1"}, 2, "--draw"},
	})
}
