package sinter_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// layers is the order of the house: the way a tensor takes, from the graph down
// to the machine, then back up to what is built on the library. A package may
// import packages of lines above its own, and of its own line none. Nothing
// in internal/ may import the root; model and all behind it import public
// packages alone, as users do.
const layers = `
internal/accurate internal/atomicfile internal/int4 internal/cpuid internal/dynlib internal/effort internal/filelock internal/jsonread internal/timetest internal/emit/x86/asm internal/emit/arm64/asm internal/jit
internal/accepted internal/dynlib/libtest internal/reftest
internal/diskcache
internal/ir
internal/ir/irtest internal/philox
internal/grad internal/rewrite
internal/loop
internal/loop/looptest
internal/template
internal/schedule
internal/emit/entry internal/emit/native
internal/device/tune internal/emit/x86 internal/emit/x86/x86sim internal/emit/arm64 internal/emit/generic internal/emit/cstyle internal/emit/flat internal/emit/ptx/ptxsim internal/emit/native/nativetest
internal/emit/flat/flattest internal/emit/ptx internal/emit/spirv
internal/device
internal/inspect
internal/inspect/page
internal/device/interp
internal/device/compile internal/device/keep
internal/device/launch
internal/device/toy
internal/device/cpu
internal/device/null internal/device/suite
internal/device/trial
internal/device/opencl/cl internal/device/cuda/cu internal/device/vulkan/vk internal/device/hip/hiprt internal/device/metal/mtl
internal/device/launch/order
internal/device/opencl/cl/cltest internal/device/cuda/cu/cutest internal/device/vulkan/vk/vktest internal/device/hip/hiprt/hiptest internal/device/metal/mtl/mtltest
internal/device/opencl internal/device/cuda internal/device/hip internal/device/metal internal/device/vulkan
.
gpu
internal/devicetest internal/gputest internal/planted internal/device/launch/launchtest internal/device/launch/clangtest
safetensors tokenizer hub
internal/modeltest
model
embed
model/minilm
nn optim
nn/gpt
nn/gpt/gpttest
train
train/report
bench
cmd/sinter examples
`

// public is the first layer that may not import internal packages of the
// pipeline; what is shared by several public packages is listed.
var shared = map[string]bool{"internal/atomicfile": true, "internal/filelock": true, "internal/jsonread": true, "internal/reftest": true}

func TestImports(t *testing.T) {
	const module = "github.com/sinterml/sinter"
	layer := map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(layers), "\n") {
		for _, p := range strings.Fields(line) {
			layer[p] = i
		}
	}
	root, seen := layer["."], map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 1 && d.Name()[0] == '.') {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		pkg := known(layer, path.Dir(filepath.ToSlash(file)))
		if pkg == "" {
			t.Errorf("%s: its package has no place in the order", file)
			return nil
		}
		seen[pkg] = true
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			rest, ours := strings.CutPrefix(name, module)
			if !ours {
				continue
			}
			dep := strings.TrimPrefix(rest, "/")
			if dep == "" {
				dep = "."
			}
			dep = known(layer, dep)
			switch {
			case dep == "" || layer[dep] >= layer[pkg] && dep != pkg:
				t.Errorf("%s imports %s, which does not come before it", file, name)
			case layer[pkg] > layer["internal/devicetest"] && layer[dep] < root && !shared[dep] && !strings.HasPrefix(pkg, "cmd") && pkg != "bench":
				t.Errorf("%s imports %s: packages behind the library use its public face", file, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for p := range layer {
		if !seen[p] && p != "examples" && p != "bench" {
			t.Errorf("%s is in the order but holds no code", p)
		}
	}
}

// known is the entry that dir falls under: itself, or the folder above it for
// programs and test helpers.
func known(layer map[string]int, dir string) string {
	for d := dir; ; d = path.Dir(d) {
		if _, ok := layer[d]; ok && (d == dir || strings.HasPrefix(d, "cmd/") || d == "model/minilm" || d == "examples" || d == "bench") {
			return d
		}
		if d == "." || d == "/" {
			return ""
		}
	}
}
