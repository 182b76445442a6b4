package ptx_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
)

// groupAttendCases are those of attendCases of bf16, with heads of whole patterns.
func groupAttendCases() []attendCase {
	var all []attendCase
	for _, c := range attendCases() {
		if c.half != ir.BF16 {
			continue
		}
		n := len(all)
		if c.width, c.vWidth = 64+64*(n%2), 64+64*(n/2%2); n%9 == 0 && !c.attr.Ragged { // more keys than there are stages for
			c.sizes = append(c.sizes[:len(c.sizes):len(c.sizes)], ir.Env{"Q": 70, "K": 460})
		}
		if c.attr.SoftCap != 0 || c.attr.Mask {
			c.vWidth = 64
		}
		all = append(all, c)
	}
	return all
}

// TestAttendsByGroups compares attention by groups of warps with the referee: cases of
// all kinds, with -tags long every case.
func TestAttendsByGroups(t *testing.T) {
	d, err := launch.New(&backend{target: groupTarget}, launch.Options{Kind: "ptx", Shape: groupTarget.Shape(), Units: 4})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range groupAttendCases() {
		if effort.Of(i%9, i%15, i%5, 0) != 0 {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			cs := c.suiteCase()
			for _, k := range kernelsOf(t, groupTarget, []*suite.Case{cs}) {
				if k.Attended != nil && groupTarget.Dynamic(k) == 0 {
					t.Error("groups of warps do not multiply")
				}
			}
			if err := cs.Run(context.Background(), d, device.Options{Check: true}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAttendsByGroupsWhere: what has no whole patterns, or is older, goes by warps.
func TestAttendsByGroupsWhere(t *testing.T) {
	for _, c := range []struct {
		target ptx.Target
		dtype  ir.DType
		width  int
		want   bool
	}{{groupTarget, ir.BF16, 64, true}, {groupTarget, ir.BF16, 128, true}, {groupTarget, ir.BF16, 32, false}, {groupTarget, ir.BF16, 96, false}, {groupTarget, ir.F16, 64, false}, {targets[1], ir.BF16, 64, false}} {
		a, _ := flattest.Attention(rand.New(rand.NewPCG(1, 0)), c.dtype, flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: 1, Keys: 1, Width: c.width}, ir.AttentionAttr{Scale: 1})
		a.TF32 = c.dtype == ir.F16
		k := c.target.Shape().Attention("k", a)
		p, err := ptx.Write(c.target, []*entry.Kernel{k})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(p.Source, "wgmma"); got != c.want || got != (c.target.Dynamic(k) > 0) || k.Attended == nil {
			t.Errorf("%v, %v heads of %d: by groups %v, %d bytes", c.target, c.dtype, c.width, got, c.target.Dynamic(k))
		}
		if k := c.target.Shape().Plain().Attention("k", a); k.Attended == nil || c.target.Dynamic(k) > 0 {
			t.Errorf("%v, %v heads of %d: by groups where that is turned off", c.target, c.dtype, c.width)
		}
	}
}

// TestAttendsByGroupsSameBits is TestAttendsSameBits for groups of warps.
func TestAttendsByGroupsSameBits(t *testing.T) {
	for i, attr := range []ir.AttentionAttr{{Scale: 0.3}, {Scale: 0.3, Causal: true}, {Scale: 0.3, Window: 40}} {
		for _, infinite := range []bool{false, true} {
			t.Run(fmt.Sprintf("%+v infinite %v", attr, infinite), func(t *testing.T) {
				testSameBits(t, groupTarget, ir.BF16, 64+64*(i%2), attr, infinite)
			})
		}
	}
}

// TestAttendsByGroupsFreesInOrder: a stage whose infinite value some rows alone see is
// freed when all lanes have read it one by one.
func TestAttendsByGroupsFreesInOrder(t *testing.T) {
	s := flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: 62, Keys: 320, Width: 64}
	attended(t, groupTarget, ir.BF16, 128, s, ir.AttentionAttr{Scale: 0.3, Window: 300}, func(in [][]byte) {
		binary.LittleEndian.PutUint16(in[2][2*10*64:], 0x7f80)
	})
}

// groupAttendFaults are edits of an attention by groups of warps.
var groupAttendFaults = []groupFault{
	{"sums not fenced", `\twgmma\.fence\.sync\.aligned;\n`, "", "no wgmma.fence"},
	{"scores not waited for", `(\twgmma\.wait_group\.sync\.aligned 0;\n)`, "", "read by wgmma|before its products|not waited for|was used"},
	{"copies not fenced", `\tfence\.proxy\.async\.shared::cta;\n`, "", "no fence.proxy.async"},
	{"copies not waited for", `\tcp\.async\.wait_group 2;\n`, "", "race"},
	{"copies of too few stages waited for", `cp\.async\.wait_group 2;`, "cp.async.wait_group 3;", "race"},
	{"full stages not waited for", `(\tmbarrier\.try_wait\.parity\.shared\.b64 %p\d+, \[%r\d+\+0\], %r\d+;\n)\t@!%p\d+ bra \S+;\n`, "$1", "nothing tells this warp"},
	{"free stages not waited for", `\tmbarrier\.try_wait\.parity\.shared\.b64 %p\d+, \[%r\d+\+8\], %r\d+;\n\t@!%p\d+ bra \S+;\n`, "", "race"},
	{"too many arrive", `mbarrier\.init\.shared\.b64 \[(%r\d+\+\d+)\], 256;`, "mbarrier.init.shared.b64 [$1], 255;", "more threads arrive"},
	{"too few arrive", `mbarrier\.init\.shared\.b64 \[(%r\d+\+\d+)\], 8;`, "mbarrier.init.shared.b64 [$1], 9;", "phase that does not end"},
	{"barriers made late", `(\tmbarrier\.init.*\n\$L\d+:\n)\tbar\.sync 0;\n`, "$1", "barrier"},
	{"barriers left", `\tmbarrier\.inval.*\n`, "", "is there a barrier"},
	{"queries changed on the way", `(\twgmma\.mma_async\S+ \{[^}]*\}, \{(%r\d+),(?:.*\n)*?)(\twgmma\.commit_group)`, "$1\tadd.u32 $2, $2, 1;\n$3", "registers of X were written"},
}

// TestAttendGroupFaults: the interpreter of PTX refuses an attention by groups of
// warps in which anything is left out that orders its parts.
func TestAttendGroupFaults(t *testing.T) {
	a, args := flattest.Attention(rand.New(rand.NewPCG(5, 0)), ir.BF16, flattest.Attended{Batch: 1, Heads: 2, KVHeads: 2, Queries: 140, Keys: 470, Width: 64}, ir.AttentionAttr{Scale: 0.3})
	k := groupTarget.Shape().Attention("k", a)
	var err error
	if args.Start, args.End, err = k.Work.Span(args.Sizes); err != nil {
		t.Fatal(err)
	}
	tryFaults(t, groupTarget, k, args, 2, groupAttendFaults)
}
