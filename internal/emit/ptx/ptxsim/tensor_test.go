package ptxsim

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// boxed copies a box of 64 x 8 of a map to shared memory, and from there to out,
// piece by piece.
const boxed = `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(
	.param .u64 out,
	.param .align 64 .b8 map[128],
	.param .u64 column,
	.param .u64 row
)
{
	.reg .pred %%p<4>;
	.reg .b32 %%r<16>;
	.reg .b64 %%rd<16>;
	.shared .align 1024 .b8 near[2048];
	ld.param.u64 %%rd0, [out];
	cvta.to.global.u64 %%rd0, %%rd0;
	ld.param.u64 %%rd1, [column];
	ld.param.u64 %%rd2, [row];
	cvt.u32.u64 %%r1, %%rd1;
	cvt.u32.u64 %%r2, %%rd2;
	mov.b64 %%rd3, map;
	cvta.param.u64 %%rd3, %%rd3;
	mov.u32 %%r0, near;
	mov.u32 %%r3, %%tid.x;
	setp.eq.u32 %%p0, %%r3, 0;
	@%%p0 mbarrier.init.shared.b64 [%%r0+1024], 1;
	%s
	bar.sync 0;
	@%%p0 prefetch.tensormap [%%rd3];
	@%%p0 mbarrier.arrive.expect_tx.shared.b64 %%rd4, [%%r0+1024], 1024;
	@%%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%%r0+%d], [%%rd3, {%%r1, %%r2}], [%%r0+1024];
	mov.u32 %%r5, 0;
$wait:
	mbarrier.try_wait.parity.shared.b64 %%p1, [%%r0+1024], %%r5;
	%s
	mad.lo.u32 %%r6, %%r3, 4, %%r0;
	mad.lo.u32 %%r7, %%r3, 4, 0;
	cvt.u64.u32 %%rd5, %%r7;
	add.u64 %%rd5, %%rd5, %%rd0;
	mov.u32 %%r8, 0;
$next:
	ld.shared.u32 %%r9, [%%r6];
	st.global.u32 [%%rd5], %%r9;
	add.u32 %%r6, %%r6, 128;
	add.u64 %%rd5, %%rd5, 128;
	add.u32 %%r8, %%r8, 1;
	setp.lt.u32 %%p2, %%r8, 8;
	@%%p2 bra $next;
	ret;
}
`

const fenced, waited = "fence.proxy.async.shared::cta;", "@!%p1 bra $wait;"

// copyBox runs boxed on a matrix of 70 x 11 whose element (row, column) is
// 256*row + column, in rows of 160 bytes.
func copyBox(text string, column, row int, box uint32) ([]byte, error) {
	m, err := Load(text)
	if err != nil {
		return nil, err
	}
	f, err := m.Function("k")
	if err != nil {
		return nil, err
	}
	var memory Memory
	data, out := make([]byte, 160*11), make([]byte, 1024)
	for r := range 11 {
		for c := range 80 {
			binary.LittleEndian.PutUint16(data[160*r+2*c:], uint16(256*r+c))
		}
	}
	args := make([]byte, f.ArgBytes())
	t := TensorMap{Type: 1, Address: memory.Map(data), Sizes: []uint64{70, 11}, Strides: []uint64{160}, Box: []uint32{64, box}, Steps: []uint32{1, 1}, Swizzle: 3}
	encoded, err := t.Encode()
	if err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint64(args, memory.Map(out))
	copy(args[f.Params[1].Offset:], encoded[:])
	binary.LittleEndian.PutUint64(args[f.Params[2].Offset:], uint64(column))
	binary.LittleEndian.PutUint64(args[f.Params[3].Offset:], uint64(row))
	return out, f.Launch(context.Background(), Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Args: args, Memory: &memory})
}

// TestTensorCopy: boxes inside and beyond each end, as NVIDIA's figures of
// CU_TENSOR_MAP_SWIZZLE_128B have them: piece p of row r lies at p xor r.
func TestTensorCopy(t *testing.T) {
	for _, at := range [][2]int{{0, 0}, {3, 2}, {8, 7}, {64, 10}, {-5, -2}, {69, 0}, {70, 0}, {0, 11}, {-64, 0}} {
		out, err := copyBox(fmt.Sprintf(boxed, fenced, 0, waited), at[0], at[1], 8)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 512 {
			r, c := i/64, i%64
			want, row, column := uint16(0), at[1]+r, at[0]+c
			if row >= 0 && row < 11 && column >= 0 && column < 70 {
				want = uint16(256*row + column)
			}
			place := 128*r + (c/8^r)*16 + c%8*2
			if got := binary.LittleEndian.Uint16(out[place:]); got != want {
				t.Fatalf("box at %v: element %d %d is %#x, not %#x", at, r, c, got, want)
			}
		}
	}
}

// TestTensorCopyRefused: what a GPU does wrong, or never ends.
func TestTensorCopyRefused(t *testing.T) {
	good := fmt.Sprintf(boxed, fenced, 0, waited)
	edit := func(old, new string) string { return strings.ReplaceAll(good, old, new) }
	for _, c := range []struct {
		what, text string
		box        uint32
		want       string
	}{
		{"not waited for", fmt.Sprintf(boxed, fenced, 0, ""), 8, "a race"},
		{"not fenced", fmt.Sprintf(boxed, "", 0, waited), 8, "no fence.proxy.async"},
		{"misaligned", fmt.Sprintf(boxed, fenced, 64, waited), 8, "bytes to byte 64"},
		{"outside", fmt.Sprintf(boxed, fenced, 1280, waited), 8, "to byte 1280"},
		{"not expected", edit("arrive.expect_tx.shared.b64 %rd4, [%r0+1024], 1024", "arrive.shared.b64 %rd4, [%r0+1024]"), 8, "expects 0"},
		{"larger than expected", good, 9, "expects 1024"},
		{"smaller than expected", good, 7, "phase that does not end"},
		{"beyond what counts", edit(", 1024;", ", 1048576;"), 8, "more than a barrier counts"},
		{"several threads", edit("@%p0 cp", "cp"), 8, "several threads"},
		{"no map", edit("mov.b64 %rd3, map", "mov.b64 %rd3, 0"), 8, "no place of a tensor map|there is no tensor map"},
		{"not generic", edit("\tcvta.param.u64 %rd3, %rd3;\n", ""), 8, "no place"},
		{"other axes", edit("tensor.2d", "tensor.3d"), 8, "a corner of 2"},
		{"other way", edit("global.mbarrier::complete_tx::bytes", "global.bulk_group"), 8, "no way to run"},
		{"no such prefetch", edit("prefetch.tensormap", "prefetch.global.L2"), 8, "only prefetch.tensormap"},
	} {
		_, err := copyBox(c.text, 0, 0, c.box)
		if err == nil {
			t.Errorf("%s: it runs", c.what)
			continue
		}
		ok := false
		for _, want := range strings.Split(c.want, "|") {
			ok = ok || strings.Contains(err.Error(), want)
		}
		if !ok {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// TestTensorMap: what the driver's documentation does not allow is not encoded.
func TestTensorMap(t *testing.T) {
	good := func() *TensorMap {
		return &TensorMap{Type: 1, Address: 1 << 20, Sizes: []uint64{70, 1 << 20, 3}, Strides: []uint64{160, 160 << 20}, Box: []uint32{64, 256, 1},
			Steps: []uint32{1, 1, 8}, Swizzle: 3, Promotion: 3}
	}
	for what, change := range map[string]func(m *TensorMap){
		"type": func(m *TensorMap) { m.Type = 13 }, "no axes": func(m *TensorMap) { m.Sizes, m.Box, m.Steps, m.Strides = nil, nil, nil, nil },
		"axes": func(m *TensorMap) { m.Strides = m.Strides[:1] }, "address": func(m *TensorMap) { m.Address += 8 },
		"interleave": func(m *TensorMap) { m.Interleave = 1 }, "swizzle": func(m *TensorMap) { m.Swizzle = 4 }, "promotion": func(m *TensorMap) { m.Promotion = 4 },
		"fill": func(m *TensorMap) { m.Fill = 1 }, "nothing": func(m *TensorMap) { m.Sizes[1] = 0 }, "size": func(m *TensorMap) { m.Sizes[2] = 1<<32 + 1 },
		"stride": func(m *TensorMap) { m.Strides[0] = 168 }, "far": func(m *TensorMap) { m.Strides[1] = 1 << 40 },
		"stride inside": func(m *TensorMap) { m.Strides[0] = 128 }, "no box": func(m *TensorMap) { m.Box[2] = 0 }, "box": func(m *TensorMap) { m.Box[1] = 257 },
		"inner box": func(m *TensorMap) { m.Box[0] = 65 }, "span": func(m *TensorMap) { m.Box[0] = 72 }, "span of 64": func(m *TensorMap) { m.Swizzle = 2 },
		"no step": func(m *TensorMap) { m.Steps[0] = 0 }, "step": func(m *TensorMap) { m.Steps[0] = 9 },
	} {
		m := good()
		if _, err := m.Encode(); err != nil {
			t.Fatal(err)
		}
		change(m)
		if _, err := m.Encode(); err == nil {
			t.Errorf("%s: %+v is encoded", what, m)
		}
	}
	m := good()
	encoded, _ := m.Encode()
	if got, err := decodeTensorMap(encoded[:]); err != nil || fmt.Sprint(got.Sizes, got.Strides, got.Box, got.Steps, got.Address) != fmt.Sprint(m.Sizes, m.Strides, m.Box, m.Steps, m.Address) {
		t.Errorf("%+v, %v", got, err)
	}
}
