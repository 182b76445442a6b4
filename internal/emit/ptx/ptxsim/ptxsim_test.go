package ptxsim

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
)

// kernel is the text of a module with one entry point k of three params.
func kernel(body string) string {
	return `.version 7.0
.target sm_80
.address_size 64

.visible .entry k(
	.param .u64 p0,
	.param .u64 p1,
	.param .u64 p2
)
{
	.reg .pred %p<8>;
	.reg .b16 %h<8>;
	.reg .b32 %r<32>;
	.reg .b64 %rd<16>;
	.reg .f32 %f<16>;
	.reg .f64 %d<4>;
	.shared .align 16 .b8 near[512];
	ld.param.u64 %rd0, [p0];
	ld.param.u64 %rd1, [p1];
	ld.param.u64 %rd2, [p2];
	cvta.to.global.u64 %rd0, %rd0;
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r3, %r1, %r2, %r0;
	mul.wide.u32 %rd3, %r3, 4;
	add.u64 %rd4, %rd0, %rd3;
	add.u64 %rd5, %rd1, %rd3;
	mov.u32 %r4, near;
	shl.b32 %r5, %r0, 2;
	add.u32 %r5, %r4, %r5;
` + body + "}\n"
}

// execute runs k over memory of u32, of which the second is the result.
func execute(t *testing.T, body string, blocks, threads int, in []uint32) ([]uint32, error) {
	t.Helper()
	m, err := Load(kernel(body))
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("k")
	if err != nil {
		t.Fatal(err)
	}
	var mem Memory
	data := make([]byte, 4*len(in))
	for i, v := range in {
		binary.LittleEndian.PutUint32(data[4*i:], v)
	}
	out := make([]byte, 4*len(in))
	args := make([]byte, f.ArgBytes())
	binary.LittleEndian.PutUint64(args, mem.Map(data))
	binary.LittleEndian.PutUint64(args[8:], mem.Map(out))
	binary.LittleEndian.PutUint64(args[16:], uint64(len(in)))
	err = f.Launch(context.Background(), Launch{Grid: [3]uint32{uint32(blocks), 1, 1}, Block: [3]uint32{uint32(threads), 1, 1}, Args: args, Memory: &mem})
	result := make([]uint32, len(in))
	for i := range result {
		result[i] = binary.LittleEndian.Uint32(out[4*i:])
	}
	return result, err
}

func count(n int) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(i)
	}
	return all
}

// Lanes that loop a different number of times come together behind the loop.
func TestDivergence(t *testing.T) {
	got, err := execute(t, `	mov.u32 %r6, 0;
	mov.u32 %r7, 0;
$top:
	setp.ge.u32 %p0, %r6, %r3;
	@%p0 bra $end;
	and.b32 %r8, %r6, 1;
	setp.eq.u32 %p1, %r8, 0;
	@%p1 bra $even;
	add.u32 %r7, %r7, 10;
	bra $next;
$even:
	add.u32 %r7, %r7, 1;
$next:
	add.u32 %r6, %r6, 1;
	bra $top;
$end:
	shfl.sync.bfly.b32 %r9, %r7, 1, 31, 0xffffffff;
	st.global.u32 [%rd5], %r9;
	ret;
`, 2, 64, count(128))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		n := uint32(i ^ 1)
		if want := n/2*10 + (n+1)/2; v != want {
			t.Fatalf("thread %d has %d, not %d", i, v, want)
		}
	}
}

// A vote is by warp: here of the first of two warps, all of whose lanes are below
// 32, and of the second, whose last is not below 63.
func TestVote(t *testing.T) {
	got, err := execute(t, `	setp.lt.u32 %p0, %r0, 63;
	vote.sync.all.pred %p1, %p0, 0xffffffff;
	selp.b32 %r6, 1, 0, %p1;
	st.global.u32 [%rd5], %r6;
	ret;
`, 1, 64, count(64))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if want := uint32(1 - i/32); v != want {
			t.Fatalf("thread %d has %d, not %d", i, v, want)
		}
	}
}

// A maximum leaves NaN out, or with .NaN does not.
func TestMaximumOfNaN(t *testing.T) {
	const nan, two, three = 0x7fffffff, 0x40000000, 0x40400000
	for _, c := range []struct {
		op      string
		x, want uint32
	}{{"max", nan, two}, {"max.NaN", nan, nan}, {"max.NaN", three, three}, {"max.NaN", 0xff800000, two}} {
		got, err := execute(t, "\tld.global.f32 %f0, [%rd4];\n\t"+c.op+".f32 %f1, %f0, 0f40000000;\n\tst.global.f32 [%rd5], %f1;\n\tret;\n", 1, 32, slices.Repeat([]uint32{c.x}, 32))
		if err != nil || got[0] != c.want {
			t.Errorf("%s of %#x and 2 is %#x, not %#x: %v", c.op, c.x, got[0], c.want, err)
		}
	}
}

// A reversal within a block needs its barrier.
func TestBarrier(t *testing.T) {
	const before = `	ld.global.u32 %r6, [%rd4];
	st.shared.u32 [%r5], %r6;
`
	const after = `	sub.u32 %r7, 63, %r0;
	shl.b32 %r7, %r7, 2;
	add.u32 %r7, %r4, %r7;
	ld.shared.u32 %r8, [%r7];
	st.global.u32 [%rd5], %r8;
`
	got, err := execute(t, before+"\tbar.sync 0;\n"+after, 2, 64, count(128))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if want := uint32(i/64*64 + 63 - i%64); v != want {
			t.Fatalf("thread %d has %d, not %d", i, v, want)
		}
	}
	if _, err := execute(t, before+after, 2, 64, count(128)); err == nil || !strings.Contains(err.Error(), "race") {
		t.Errorf("without a barrier: %v", err)
	}
}

// What is wrong ends with an error that names the instruction.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"behind the end", "\tadd.u64 %rd5, %rd5, 4;\n\tst.global.u32 [%rd5], %r0;\n", "byte 512 of the 512"},
		{"in front", "\tld.global.u32 %r6, [%rd0+-4];\n", "4 bytes at 0x7f3ffffffffc: there is no memory"},
		{"null", "\tmov.u64 %rd6, 0;\n\tld.global.u32 %r6, [%rd6];\n", "there is no memory"},
		{"unset", "\tld.global.u32 %r6, [%rd9];\n", "there is no memory"},
		{"misaligned", "\tld.global.u32 %r6, [%rd0+2];\n", "no multiple"},
		{"misaligned vector", "\tld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd0+4];\n", "no multiple"},
		{"shared", "\tld.shared.u32 %r6, [%r4+512];\n", "outside its"},
		{"half a barrier", "\tsetp.lt.u32 %p0, %r0, 7;\n\t@%p0 bra $end;\n\tbar.sync 0;\n$end:\n", "not at the barrier"},
		{"a warp's barrier", "\tsetp.lt.u32 %p0, %r0, 32;\n\t@%p0 bra $end;\n\tbar.sync 0;\n$end:\n", "others have ended"},
		{"two barriers", "\tsetp.lt.u32 %p0, %r0, 32;\n\t@%p0 bra $else;\n\tbar.sync 0;\n\tbra $end;\n$else:\n\tbar.sync 0;\n$end:\n", "do not reach"},
		{"half a warp", "\tsetp.lt.u32 %p0, %r0, 7;\n\t@%p0 shfl.sync.bfly.b32 %r9, %r7, 1, 31, 0xffffffff;\n", "take part"},
		{"half a vote", "\tsetp.lt.u32 %p0, %r0, 7;\n\t@%p0 vote.sync.all.pred %p1, %p0, 0xffffffff;\n", "take part"},
		{"two writers", "\tst.shared.u32 [%r4], %r0;\n", "race"},
		{"writer behind readers", "\tst.shared.u32 [%r5], %r0;\n\tbar.sync 0;\n\tld.shared.u32 %r6, [%r4];\n\tst.shared.u32 [%r5], %r6;\n", "was read by several"},
		{"copy not waited for", "\tcp.async.ca.shared.global [%r5], [%rd4], 4;\n\tcp.async.commit_group;\n\tbar.sync 0;\n\tcp.async.wait_group 0;\n\tld.shared.u32 %r6, [%r4];\n", "race"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := execute(t, c.body, 2, 64, count(128))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, not %q", err, c.want)
			}
		})
	}
}

// Text that no assembler takes, or that leaves roundings open, is refused.
func TestRefuses(t *testing.T) {
	for name, body := range map[string]string{
		"no such opcode":        "\taddx.u32 %r0, %r0, %r0;\n",
		"no rounding":           "\tadd.f32 %f0, %f0, %f0;\n",
		"subnormals flushed":    "\tadd.rn.ftz.f32 %f0, %f0, %f0;\n",
		"approximate":           "\tdiv.approx.f32 %f0, %f0, %f0;\n",
		"undeclared":            "\tadd.u32 %r0, %r0, %r99;\n",
		"a float as an integer": "\tadd.u32 %r0, %r0, %f0;\n",
		"sizes that differ":     "\tadd.u64 %rd0, %rd0, %r0;\n",
		"too many operands":     "\tadd.u32 %r0, %r0, %r0, %r0;\n",
		"no label":              "\tbra $nowhere;\n",
		"a call beside wgmma":   "\twgmma.fence.sync.aligned;\n\trcp.rn.f32 %f0, %f0;\n",
		"too large a constant":  "\tadd.u32 %r0, %r0, 4294967296;\n",
		"a guarded barrier":     "\t@%p0 bar.sync 0;\n",
		"no end of line":        "\tadd.u32 %r0, %r0, %r0\n",
		"no param":              "\tld.param.u64 %rd0, [p9];\n",
	} {
		if _, err := Load(kernel(body)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Operations by the bits that the language's manual gives them.
func TestValues(t *testing.T) {
	f := func(x float64) uint32 { return math.Float32bits(float32(x)) }
	neg := func(x int32) uint32 { return uint32(x) }
	nan := uint32(0x7fc00001)
	for _, c := range []struct {
		body string // from %r6 or %f0 to %r7
		in   uint32
		want uint32
	}{
		{"cvt.rzi.s32.f32 %r7, %f0;", f(-2.7), neg(-2)},
		{"cvt.rzi.s32.f32 %r7, %f0;", f(3e9), 0x7fffffff},
		{"cvt.rzi.s32.f32 %r7, %f0;", nan, 0},
		{"cvt.rzi.u32.f32 %r7, %f0;", f(-1), 0},
		{"cvt.rzi.s64.f32 %rd6, %f0;\n\tshr.u64 %rd6, %rd6, 32;\n\tcvt.u32.u64 %r7, %rd6;", nan, 1 << 31},
		{"cvt.rn.f32.s32 %f1, %r6;\n\tmov.b32 %r7, %f1;", neg(-16777217), f(-16777216)},
		{"cvt.rn.f16.f32 %h0, %f0;\n\tmov.b32 %r7, {%h0, 0};", f(1.0 / 16384 / 1024), 1},
		{"cvt.rn.bf16x2.f32 %r7, %f0, %f0;", f(1.00390625), 0x3f803f80},
		{"cvt.rni.f32.f32 %f1, %f0;\n\tmov.b32 %r7, %f1;", f(2.5), f(2)},
		{"cvt.rmi.f32.f32 %f1, %f0;\n\tmov.b32 %r7, %f1;", f(-2.5), f(-3)},
		{"max.f32 %f1, %f0, 0f3F800000;\n\tmov.b32 %r7, %f1;", nan, f(1)},
		{"add.rn.f32 %f1, %f0, 0f3F800000;\n\tmov.b32 %r7, %f1;", nan, 0x7fffffff},
		{"mul.rn.f32 %f1, %f0, 0f3F000000;\n\tmov.b32 %r7, %f1;", 3, 2}, // subnormal
		{"fma.rn.f32 %f1, %f0, %f0, 0fBF800000;\n\tmov.b32 %r7, %f1;", f(1 + 0x1p-23), f(0x1p-22 + 0x1p-46)},
		{"shr.s32 %r7, %r6, 40;", 1 << 31, ^uint32(0)},
		{"shl.b32 %r7, %r6, 40;", 1, 0},
		{"mul.hi.s32 %r7, %r6, %r6;", neg(-1 << 20), 1 << 8},
		{"div.s32 %r7, %r6, 2;", neg(-3), neg(-1)},
		{"rem.s32 %r7, %r6, 2;", neg(-3), neg(-1)},
		{"sqrt.approx.f32 %f1, %f0;\n\tmov.b32 %r7, %f1;", f(2), f(math.Sqrt2) - 1},
		{"sqrt.approx.f32 %f1, %f0;\n\tmov.b32 %r7, %f1;", f(math.Inf(1)), f(math.Inf(1))},
		{"prmt.b32 %r7, %r6, 0, 0x8765;", 0x80, 0xff000000},
		{"cvt.s32.s8 %r7, %r6;", 0x180, neg(-128)},
		{"setp.neu.f32 %p0, %f0, %f0;\n\tselp.b32 %r7, 1, 0, %p0;", nan, 1},
		{"setp.lt.f32 %p0, %f0, %f0;\n\tnot.pred %p0, %p0;\n\tselp.b32 %r7, 1, 0, %p0;", nan, 1},
	} {
		got, err := execute(t, "\tld.global.u32 %r6, [%rd4];\n\tmov.b32 %f0, %r6;\n\t"+c.body+"\n\tst.global.u32 [%rd5], %r7;\n", 1, 1, []uint32{c.in})
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
		} else if got[0] != c.want {
			t.Errorf("%s of %#x gives %#x, not %#x", c.body, c.in, got[0], c.want)
		}
	}
}

// A copy takes place when it is waited for, not before.
func TestCopyAsync(t *testing.T) {
	got, err := execute(t, `	st.shared.u32 [%r5], 7;
	cp.async.ca.shared.global [%r5], [%rd4], 4;
	cp.async.commit_group;
	cp.async.ca.shared.global [%r5+256], [%rd4], 4, 0;
	cp.async.commit_group;
	ld.shared.u32 %r6, [%r5];
	cp.async.wait_group 1;
	ld.shared.u32 %r7, [%r5];
	cp.async.wait_all;
	ld.shared.u32 %r8, [%r5+256];
	mad.lo.u32 %r6, %r6, 1000, %r7;
	add.u32 %r6, %r6, %r8;
	st.global.u32 [%rd5], %r6;
`, 1, 64, count(64))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if want := uint32(7000 + i); v != want {
			t.Fatalf("thread %d has %d, not %d", i, v, want)
		}
	}
}

// Shared memory whose size a launch tells lies behind what is declared.
func TestDynamicShared(t *testing.T) {
	text := strings.Replace(kernel("\tmov.u32 %r6, far;\n\tst.shared.u32 [%r6+60], %r0;\n\tst.shared.u32 [%r4], %r0;\n"), ".visible", ".extern .shared .align 16 .b8 far[];\n.visible", 1)
	m, err := Load(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("k")
	if err != nil {
		t.Fatal(err)
	}
	for shared, want := range map[int]string{0: "does not give", 60: "outside", 64: "", 1 << 20: "more than a GPU has"} {
		err := f.Launch(context.Background(), Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}, Shared: shared, Args: make([]byte, 24), Memory: &Memory{}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v, not %q", shared, err, want)
		}
	}
}

// A run that does not end is given up with its context.
func TestGivenUp(t *testing.T) {
	m, err := Load(kernel("$top:\n\tbra $top;\n"))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := m.Function("k")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var mem Memory
	if err := f.Launch(ctx, Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}, Args: make([]byte, 24), Memory: &mem}); err == nil {
		t.Error("no error")
	}
}

// BenchmarkLanes runs multiply-adds between loads of shared memory.
func BenchmarkLanes(b *testing.B) {
	const turns, inLoop = 1000, 7
	m, err := Load(kernel(`	mov.u32 %r6, 0;
	mov.f32 %f1, 0f3F800000;
	st.shared.f32 [%r5], %f1;
$top:
	ld.shared.f32 %f2, [%r5];
	fma.rn.f32 %f1, %f2, %f2, %f1;
	fma.rn.f32 %f1, %f2, %f2, %f1;
	fma.rn.f32 %f1, %f2, %f2, %f1;
	add.u32 %r6, %r6, 1;
	setp.lt.u32 %p0, %r6, 1000;
	@%p0 bra $top;
`))
	if err != nil {
		b.Fatal(err)
	}
	f, err := m.Function("k")
	if err != nil {
		b.Fatal(err)
	}
	var mem Memory
	for b.Loop() {
		if err := f.Launch(b.Context(), Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{128, 1, 1}, Args: make([]byte, 24), Memory: &mem}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*turns*inLoop*128/b.Elapsed().Seconds()/1e6, "million/s")
}
