package x86

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/loop"
)

// amxChunk is what TDPBF16PS has of a chunk: the sums of the products of the
// first values of the lanes and of the second ones, as Intel's manual gives it.
type amxChunk [2]float32

// add adds a lane's products, of step k, and at the end of a chunk the chunk.
func (c *amxChunk) add(sum uint32, k int, a, b uint32) uint32 {
	if k%GemmChunk == 0 {
		*c = amxChunk{}
	}
	c[0] = loop.FMA32(math.Float32frombits(a<<16), math.Float32frombits(b<<16), c[0])
	c[1] = loop.FMA32(math.Float32frombits(a&^0xFFFF), math.Float32frombits(b&^0xFFFF), c[1])
	if k%GemmChunk < GemmChunk-1 {
		return sum
	}
	return math.Float32bits(math.Float32frombits(sum) + (c[0] + c[1]))
}

// thirdsSum adds the products of all chunks of GemmAMXF32, whose lanes at gives.
func thirdsSum(steps int, at func(k int) (a, b uint32)) (sum uint32) {
	for first := 0; first < steps; first += ThirdsChunk {
		for _, parts := range thirdsOrder {
			var chunk amxChunk
			for k := range GemmChunk {
				a, _ := at(first + parts[0]*GemmChunk + k)
				_, b := at(first + parts[1]*GemmChunk + k)
				sum = chunk.add(sum, k, a, b)
			}
		}
	}
	return math.Float32bits(math.Float32frombits(sum) / ThirdsScale)
}

// sumsOf is memory for a tile's sums.
func sumsOf(tile GemmTile) unsafe.Pointer {
	const line = 64
	room := make([]byte, line*tile.Rows*tile.Vectors+line)
	at := unsafe.Pointer(&room[0])
	return unsafe.Add(at, -uintptr(at)%line)
}

// The loop over k has a multiplication for each block of sums and loads each
// operand once.
func TestAMXInnerLoop(t *testing.T) {
	for _, format := range []GemmFormat{GemmAMXBF16, GemmAMXBytes, GemmAMXF32} {
		for _, tile := range GemmTiles(AVX512, format) {
			a, err := emitGemmTile(AVX512, format, tile, false, false, false)
			if err != nil {
				t.Fatal(err)
			}
			_, multiply, _ := format.ops()
			count := map[string]int{}
			for _, l := range innerLoop(a.Lines()) {
				op, operands, _ := strings.Cut(l.Text, " ")
				count[op]++
				if strings.Contains(operands, "rdi") {
					t.Errorf("%v %v: %s spills", format, tile, l.Text)
				}
			}
			blocks := len(tile.heights())
			want := map[string]int{multiply.String(): blocks * tile.Vectors, "tileloadd": blocks + tile.Vectors, "add": blocks + tile.Vectors + 1, "prefetcht1": amxFetched, "lea": 1, "sub": 1, "jne": 1}
			if format == GemmAMXF32 { // six pairs of thirds, each with one that the pair before did not have
				want[multiply.String()] *= 6
				want["tileloadd"] = 4*blocks + 3*tile.Vectors
				want["prefetcht1"] *= 2
			}
			for op := range count {
				if count[op] != want[op] {
					t.Errorf("%v %v: %d %s, want %d", format, tile, count[op], op, want[op])
				}
			}
			for op := range want {
				if count[op] == 0 {
					t.Errorf("%v %v: no %s", format, tile, op)
				}
			}
		}
	}
}

func TestAMXTileRefused(t *testing.T) {
	for _, tile := range []GemmTile{{0, 1}, {33, 2}, {32, 4}, {17, 3}, {16, 5}, {1, 0}} {
		if _, err := emitGemmTile(AVX512, GemmAMXBytes, tile, false, false, false); err == nil {
			t.Errorf("no error for %v", tile)
		}
	}
	if _, err := emitGemmTile(AVX2, GemmAMXBytes, GemmTile{32, 2}, false, false, false); err == nil {
		t.Error("no error on AVX2")
	}
	if _, err := emitGemmTile(AVX512, GemmAMXBF16, GemmTile{32, 2}, false, true, false); err == nil {
		t.Error("no error for rows that lie by columns")
	}
}
