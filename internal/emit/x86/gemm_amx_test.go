package x86

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// amxChunk is what TDPBF16PS, or TDPFP16PS, has of a chunk: the sums of the products of the
// first values of the lanes and of the second ones, as Intel's manual gives it.
type amxChunk [2]float32

// add adds a lane's products, of step k, and at the end of a chunk the chunk.
func (c *amxChunk) add(f GemmFormat, sum uint32, k int, a, b uint32) uint32 {
	if k%GemmChunk == 0 {
		*c = amxChunk{}
	}
	short := ir.BF16ToFloat32
	if f == GemmAMXHalves {
		short = ir.F16ToFloat32
	}
	for half := range 2 {
		c[half] = loop.FMA32(short(uint16(a>>(16*half))), short(uint16(b>>(16*half))), c[half])
	}
	if k%GemmChunk < GemmChunk-1 {
		return sum
	}
	return math.Float32bits(math.Float32frombits(sum) + (c[0] + c[1]))
}

// partsSums adds the products of all chunks of a format that splits, whose lanes at
// gives.
func (f GemmFormat) partsSums(steps int, at func(k int) (a, b uint32)) (sums [2]uint32) {
	for first := 0; first < steps; first += f.Parts() * GemmChunk {
		for _, parts := range f.order() {
			var chunk amxChunk
			sum := &sums[f.sumOf(parts)]
			for k := range GemmChunk {
				a, _ := at(first + parts[0]*GemmChunk + k)
				_, b := at(first + parts[1]*GemmChunk + k)
				*sum = chunk.add(f, *sum, k, a, b)
			}
		}
	}
	return sums
}

// roomOf is memory for GemmArgs.Room.
func roomOf(f GemmFormat, tile GemmTile) unsafe.Pointer {
	const line = 64
	room := make([]byte, f.RoomBytes(tile)+line)
	at := unsafe.Pointer(&room[0])
	return unsafe.Add(at, -uintptr(at)%line)
}

// The loop over k has a multiplication for each block of sums and loads each
// operand once.
func TestAMXInnerLoop(t *testing.T) {
	for _, format := range []GemmFormat{GemmAMXBF16, GemmAMXBytes, GemmAMXThirds, GemmAMXHalves} {
		for _, tile := range GemmTiles(AVX512, format) {
			if format == GemmAMXHalves { // those of more join rows of the tile before
				tile.Rows = joinedRows
			}
			a, err := emitGemmTile(AVX512, format, tile, false, GemmPanels, false)
			if err != nil {
				t.Fatal(err)
			}
			_, multiply, _ := format.ops()
			count := map[string]int{}
			for _, l := range innerLoop(a.Lines()) {
				op, operands, _ := strings.Cut(l.Text, " ")
				count[op]++
				if strings.Contains(operands, "rdi") && op != "add" && op != "mov" && op != "cmp" { // to what is fetched next; rows that wait
					t.Errorf("%v %v: %s spills", format, tile, l.Text)
				}
			}
			blocks := len(tile.heights())
			want := map[string]int{multiply.String(): blocks * tile.Vectors, "tileloadd": blocks, "tileloaddt1": tile.Vectors, "add": blocks + tile.Vectors + 1, "prefetcht1": fetchedRows, "lea": 1, "sub": 1, "jne": 1}
			if format != GemmAMXHalves { // rows of the tile before may wait
				want["mov"], want["cmp"], want["jne"] = 1, 1, 2
			}
			if format == GemmAMXThirds { // six pairs of thirds, each with one that the pair before did not have
				want[multiply.String()] *= 6
				want["tileloadd"], want["tileloaddt1"] = 4*blocks, 3*tile.Vectors
				want["prefetcht1"] *= 2
			}
			if format == GemmAMXHalves { // three pairs
				want[multiply.String()] *= 3
				want["tileloadd"], want["tileloaddt1"] = 2*blocks, 2*tile.Vectors
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

// All values of k that the next rows are made of are fetched if there are panels enough,
// and hardly any others.
func TestFetchColumns(t *testing.T) {
	const pitch = 1000
	for values := 32; values <= 192; values += 32 {
		for panels := 1; panels < 100; panels++ {
			var g GemmArgs
			chunks := values / SplitValues
			g.FetchColumns(0, pitch, values, panels)
			fetched := map[int]bool{}
			for p := range panels {
				for c := range chunks {
					for r := range fetchedRows {
						fetched[(p*int(g.StepsA)+c*int(g.StepNextA)+r*int(g.LDNextA))/pitch] = true
					}
				}
			}
			for k := range values {
				if of := fetchedRows * chunks * panels; !fetched[k] && of >= values {
					t.Fatalf("%d values, %d panels: %d is not fetched", values, panels, k)
				}
			}
			if len(fetched) > values+panels+chunks+fetchedRows {
				t.Fatalf("%d values, %d panels: %d are fetched", values, panels, len(fetched))
			}
		}
	}
}

func TestAMXTileRefused(t *testing.T) {
	for _, tile := range []GemmTile{{0, 1}, {33, 2}, {32, 4}, {17, 3}, {16, 5}, {1, 0}} {
		if _, err := emitGemmTile(AVX512, GemmAMXBytes, tile, false, GemmPanels, false); err == nil {
			t.Errorf("no error for %v", tile)
		}
	}
	if _, err := emitGemmTile(AVX2, GemmAMXBytes, GemmTile{32, 2}, false, GemmPanels, false); err == nil {
		t.Error("no error on AVX2")
	}
	if _, err := emitGemmTile(AVX512, GemmAMXBF16, GemmTile{32, 2}, false, GemmColumns, false); err == nil {
		t.Error("no error for rows that lie by columns")
	}
}
