package ptx_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

type groupFault struct{ name, old, new, want string }

// groupFaults are edits of a product by groups of warps, each of which a GPU
// would run with another result, now and then or always, without a word. Its
// operands are copied by threads.
var groupFaults = []groupFault{
	{"sums not fenced", `\twgmma\.fence\.sync\.aligned;\n`, "", "no wgmma.fence"},
	{"products not committed", `\twgmma\.commit_group\.sync\.aligned;\n`, "", "read by wgmma|before its products"},
	{"a stage freed while it is read", `wait_group\.sync\.aligned 1;`, "wait_group.sync.aligned 2;", "read by wgmma"},
	{"products not waited for", `\twgmma\.wait_group\.sync\.aligned 0;\n`, "", "read by wgmma|before its products"},
	{"copies not fenced", `\tfence\.proxy\.async\.shared::cta;\n`, "", "no fence.proxy.async"},
	{"copies not waited for", `\tcp\.async\.wait_group 2;\n`, "", "race"},
	{"the last copies not waited for", `\tcp\.async\.wait_all;\n`, "", "race|ends before its copies"},
	{"full stages not waited for", `(\tmbarrier\.try_wait\.parity\.shared\.b64 %p\d+, \[%r\d+\+0\], %r\d+;\n)\t@!%p\d+ bra \S+;\n`, "$1", "nothing tells this warp"},
	{"free stages not waited for", `(\tmbarrier\.try_wait\.parity\.shared\.b64 %p\d+, \[%r\d+\+8\], %r\d+;\n)\t@!%p\d+ bra \S+;\n`, "$1", "race"},
	{"too many arrive", `mbarrier\.init\.shared\.b64 \[(%r\d+\+\d+)\], 128;`, "mbarrier.init.shared.b64 [$1], 127;", "more threads arrive"},
	{"too few arrive", `mbarrier\.init\.shared\.b64 \[(%r\d+\+\d+)\], 8;`, "mbarrier.init.shared.b64 [$1], 9;", "phase that does not end"},
	{"barriers made late", `(\tmbarrier\.init.*\n\$L\d+:\n)\tbar\.sync 0;\n`, "$1", "barrier"},
	{"barriers left", `\tmbarrier\.inval.*\n`, "", "is there a barrier"},
	{"threads that differ", `mul\.lo\.u32 (%r\d+), %r\d+, 8192;`, "mul.lo.u32 $1, %tid.x, 64;", "different operands|a pattern that does not begin"},
	{"patterns not behind each other", `(or\.b64 %rd\d+, %rd\d+), 46\d{17};`, fmt.Sprintf("$1, %d;", 1<<62|63<<32|1<<16), "a pattern that does not begin"},
	{"sums written early", `(\tbar\.sync 0;\n)(\tsetp\.eq\.u32 %p\d+, %r\d+, 0;\n\t@!%p\d+ bra \S+;\n\tmbarrier\.inval)`, "$2", "race|barrier"},
}

// mapFaults are those of one whose operands are copied by tensor maps.
var mapFaults = []groupFault{
	{"a stage freed while it is read", `wait_group\.sync\.aligned 1;`, "wait_group.sync.aligned 2;", "a race"},
	{"full stages not waited for", `(\tmbarrier\.try_wait\.parity\.shared\.b64 %p\d+, \[%r\d+\+0\], %r\d+;\n)\t@!%p\d+ bra \S+;\n`, "$1", "nothing tells this warp"},
	{"free stages not waited for", `(\tmbarrier\.try_wait\.parity\.shared\.b64 %p\d+, \[%r\d+\+8\], %r\d+;\n)\t@!%p\d+ bra \S+;\n`, "$1", "more threads arrive|race"},
	{"nothing fenced before", `\tfence\.proxy\.async\.shared::cta;\n(\tbar\.sync 0;\n)`, "$1", "no fence.proxy.async"},
	{"barriers made late", `(\tmbarrier\.init.*\n\$L\d+:\n\tfence.*\n)\tbar\.sync 0;\n`, "$1", "barrier"},
	{"barriers left", `\tmbarrier\.inval.*\n`, "", "is there a barrier"},
	{"bytes not told of", `arrive\.expect_tx\.shared\.b64 (.*), 49152;`, "arrive.shared.b64 $1;", "expects 0"},
	{"too few bytes told of", `(arrive\.expect_tx.*), 49152;`, "$1, 49136;", "expects 49136"},
	{"too many bytes told of", `(arrive\.expect_tx.*), 49152;`, "$1, 49168;", "phase that does not end"},
	{"a copy left out", `\t@%p\d+ cp\.async\.bulk\.tensor\.2d.*\n`, "", "phase that does not end"},
	{"a copy of all threads", `@%p\d+ (cp\.async\.bulk)`, "$1", "several threads"},
	{"the other barrier", `(cp\.async\.bulk\.tensor.*\}\], \[%r\d+)\]`, "$1+8]", "expects 0"},
	{"a map that is no param", `cvta\.param\.u64`, "mov.b64", "no place of a tensor map"},
	{"between patterns", `(complete_tx::bytes \[%r\d+)(\+\d+)?\]`, "$1+16]", "bytes to byte"},
	{"sums written early", `(\tbar\.sync 0;\n)(\tsetp\.eq\.u32 %p\d+, %r\d+, 0;\n\t@!%p\d+ bra \S+;\n\tmbarrier\.inval)`, "$2", "race|barrier"},
}

// TestGroupFaults: the interpreter of PTX refuses a product by groups of warps in
// which anything is left out that orders its parts.
func TestGroupFaults(t *testing.T) { testFaults(t, copyTarget, groupFaults) }

// TestGroupMapFaults is the same for copies by tensor maps: that of a weight, which
// all batches share, has two axes.
func TestGroupMapFaults(t *testing.T) { testFaults(t, groupTarget, mapFaults) }

func testFaults(t *testing.T, target ptx.Target, faults []groupFault) {
	g, a := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), ir.BF16, flattest.Sizes{Batch: 2, Rows: 80, Cols: 136, K: 464}, false)
	one := *g.Y
	one.Args = []*loop.Expr{loop.AddIndex(loop.MulIndex(g.Inner.Ref(), loop.SizeOf(g.Cols)), g.Col.Ref())}
	g.Y = &one // every batch has the first one's
	a.End = 2
	tryFaults(t, target, target.Shape().Tiled("product", g), a, 2, faults)
}

// tryFaults runs a kernel, chunk tasks a block, as it is and with each of the faults.
func tryFaults(t *testing.T, target ptx.Target, k *entry.Kernel, a *loop.Args, chunk int, faults []groupFault) {
	t.Helper()
	p, err := ptx.Write(target, []*entry.Kernel{k})
	if err != nil {
		t.Fatal(err)
	}
	b, err := flattest.Bind(k, a, chunk, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := runText(target, k, &b.Launch, p.Source); err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			text := regexp.MustCompile(f.old).ReplaceAllString(p.Source, f.new)
			if text == p.Source {
				t.Fatal("nothing was edited")
			}
			err := runText(target, k, &b.Launch, text)
			if err == nil {
				t.Fatal("it runs")
			}
			what, _, _ := strings.Cut(fmt.Sprint(err), "\n")
			if !regexp.MustCompile(f.want).MatchString(what) {
				t.Errorf("%s, not: %s", what, f.want)
			}
		})
	}
}
