package x86

import (
	"fmt"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// This file is the interface of the matrix product's inner kernels. They know
// no shape: sizes and strides are arguments, so that one set, emitted once a
// process, serves every product. gemm_tile.go emits them.

// GemmTile is the block of results that stays in registers: Rows x
// Vectors*Lanes(isa) columns.
type GemmTile struct{ Rows, Vectors int }

// GemmForm is where kernels find their operands and put results, see GemmArgs.
type GemmForm uint8

const (
	GemmPanels     GemmForm = iota // rows of A; vectors of B at even distances
	GemmColumns                    // A by columns
	GemmFarColumns                 // the same of f32 and f64 that lie far apart, in memory
	GemmPlaces                     // of f32: vectors of B where tables say
	GemmPast                       // as GemmPanels; results are stored past the caches
	GemmFetching                   // as GemmPanels, of f32 and GemmWide by AVX2; B is fetched into the second cache, see Fetch
)

// Columns tells that A is read by columns.
func (f GemmForm) Columns() bool { return f == GemmColumns || f == GemmFarColumns }

// GemmArgs is what a tile kernel gets in RDI. It computes Panels blocks of
// Rows x Vectors*lanes results, side by side in C:
//
//	for each row r, column j:  c = 0
//	for k = 0 .. K-1:          c += A[r][k] * B[k][j]
//	C[r][j] = Continue != 0 ? C[r][j] + c : c
//
// where k counts steps and the products are those of its format. Kernels by AMX
// take whole chunks of steps. But where operands are split they begin with c = C[r][j], so
// that where k is cut changes no bit. A kernel by
// rows reads A[r][k] at A + r*LDA + StepA*k, one by columns at A + Word*r + k*LDA.
// Vector v of B[k] of panel p is at B + p*PanelB + k*LDB + v*VectorB. A tail
// kernel writes only the lanes of Mask in the last vector of a row, and of f32 and
// f64 it reads no others. A kernel by places reads it at S[Vectors*p + v] + T[k], where
// B points to the addresses S, LDB to the distances T in bytes, and PanelB is
// 8*Vectors. The same is done for RowPanels times Rows rows below each
// other. A kernel past the caches stores whole vectors so, for which C and LDC are
// multiples of 64 (with AVX-512), and those that it masks as others do.
//
// A fetching kernel fetches in each step the line at Fetch, and goes on there by FetchStep:
// what is multiplied next, at the pace at which it will be wanted.
//
// Where Part is not 0, one more step follows, of which rows of A hold only the
// bytes with a bit in Part: no others are read, and they count as 0. Only
// kernels by rows that TakesPart know it.
//
// Ahead is laid out as C; its lines are fetched for what will be written there
// when the sums are done: C itself, or where an epilogue puts its results.
// Beside is laid out so too: what an epilogue reads for each element, such as a
// residual. With LDAhead or LDBeside 0 there is no such matrix: C may be memory
// that is hot already.
//
// Bias, RowBias, AddBeside and ReLU are for formats that sum in f32 by vectors: what becomes
// of results before they are stored. First a row is added to each row of C, if Bias is not
// 0, or to row r the number at RowBias + r*LDRowBias. Then, if AddBeside is 1, they are
// multiplied by Scale and Beside's elements are added, rounded once. At last, if ReLU is 1,
// what is below 0 becomes 0.
//
// Where there is a Finish, each block is followed by it while its sums are still
// in the first cache; see GemmFinish. C may then be the same memory for all.
type GemmArgs struct {
	A, B, C              unsafe.Pointer
	LDA, LDC             uintptr // bytes from row to row; LDA of a kernel by columns: from k to k
	LDB, VectorB, PanelB uintptr // bytes
	Panels               uintptr // at least 1
	Blocks               uintptr // K / GemmUnroll
	Rest                 uintptr // K % GemmUnroll
	Continue             uintptr
	Ahead                uintptr // an address, as what is only fetched may lie beyond the memory
	LDAhead              uintptr
	Beside               uintptr
	LDBeside             uintptr
	Part                 uintptr
	RowPanels            uintptr        // at least 1
	Follow               uintptr        // 1: where they end another row panel lies behind them in A, for the next call
	StepC, RowsC         uintptr        // bytes in C from panel to panel, from row panel to row panel
	Room                 unsafe.Pointer // RoomBytes at a multiple of 64: by AMX for the sums of a tile, by pairs for rows of A
	NextA, LDNextA       uintptr        // of kernels by AMX alone, an address: rows that are fetched for the next row panel, see FetchRows
	StepNextA, StepsA    uintptr        // bytes from those that a chunk fetches to those of the next, and from panel to panel
	Bias                 uintptr        // an address, as 0 stands for none
	RowBias, LDRowBias   uintptr        // the same, and bytes
	AddBeside, ReLU      uintptr
	Fetch, FetchStep     uintptr // of GemmFetching: an address, and bytes; Fetch goes on from call to call
	Scale                float32
	Mask                 [8]uint32 // AVX-512: bits of the first word; AVX2: all ones for a lane that counts
	Finish               GemmFinish

	// Where the next panel and the next row panel are, for the kernel alone: at
	// last behind what the pointers above point to.
	nextB, nextC, nextAhead, nextBeside, panels   uintptr
	rowsA, rowsC, rowsAhead, rowsBeside, rowsLeft uintptr
	rowsNextA, fetchA, nextBias, rowsBias         uintptr
	joinLeft, joinMask, joinScale                 uintptr
	saved                                         [len(liveWhileMultiplying)]uintptr
}

// Offsets of GemmArgs' fields, as the code knows them; a test compares.
const (
	gemmA        = 0
	gemmB        = 8
	gemmC        = 16
	gemmLDA      = 24
	gemmLDC      = 32
	gemmLDB      = 40
	gemmVectorB  = 48
	gemmPanelB   = 56
	gemmPanels   = 64
	gemmBlocks   = 72
	gemmRest     = 80
	gemmContinue = 88
	gemmAhead    = 96
	gemmLDAhead  = 104
	gemmBeside   = 112
	gemmLDBeside = 120
	gemmPart     = 128
	gemmRows     = 136 // RowPanels
	gemmFollow   = 144
	gemmStepC    = 152
	gemmRowsC    = 160
	gemmRoom     = 168
	gemmNextA    = 176
	gemmLDNextA  = 184
	gemmStepA    = 192
	gemmStepsA   = 200
	gemmBias     = 208
	gemmRowBias  = 216
	gemmLDBias   = 224 // LDRowBias
	gemmAdd      = 232 // AddBeside
	gemmReLU     = 240
	gemmFetch    = 248
	gemmFetches  = 256 // FetchStep
	gemmScale    = 264
	gemmMask     = 268
	gemmFinish   = 304

	gemmNextB      = gemmFinish + finishSize
	gemmNextC      = gemmNextB + 8
	gemmNextRow    = gemmNextB + 16 // Ahead's
	gemmNextBeside = gemmNextB + 24
	gemmLeft       = gemmNextB + 32 // panels

	// The same of row panels.
	gemmDownA      = gemmNextB + 40
	gemmDownC      = gemmNextB + 48
	gemmDownAhead  = gemmNextB + 56
	gemmDownBeside = gemmNextB + 64
	gemmDownLeft   = gemmNextB + 72
	gemmDownNextA  = gemmNextB + 80
	gemmFetchA     = gemmNextB + 88
	gemmNextBias   = gemmNextB + 96
	gemmDownBias   = gemmNextB + 104
	gemmJoinLeft   = gemmNextB + 112 // rows, see joinSums
	gemmJoinMask   = gemmNextB + 120
	gemmJoinScale  = gemmNextB + 128
	gemmSaved      = gemmNextB + 136
)

// GemmUnroll is the number of K steps in one round of a tile kernel's loop.
const GemmUnroll = 4

// fetchedRows is the rows of A, or the values of k of rows that lie by columns, that
// kernels by AMX fetch at once: fetchedBytes of each.
const fetchedRows = 4

// FetchRows has rows fetched that lie side by side from an address on, pitch bytes apart:
// each panel of B fetches fetchedRows of them.
func (g *GemmArgs) FetchRows(f GemmFormat, next uintptr, pitch int) {
	g.NextA, g.LDNextA = next, uintptr(pitch)
	g.StepNextA, g.StepsA = uintptr(f.fetchedBytes()), uintptr(fetchedRows*pitch)
}

// FetchColumns has so many values of k of split rows fetched that lie by columns from an
// address on, pitch bytes apart, during whole chunks of as many values and so many panels:
// all where there are as many lines to fetch in. For RowPanels 1 alone.
func (g *GemmArgs) FetchColumns(next uintptr, pitch, values, panels int) {
	chunks := values / SplitValues
	of := (values + panels - 1) / panels
	step := 0
	if chunks > 1 {
		step = max(0, (of-fetchedRows+chunks-2)/(chunks-1))
	}
	g.NextA, g.LDNextA = next, uintptr(pitch)
	g.StepNextA, g.StepsA = uintptr(step*pitch), uintptr(of*pitch)
}

// FetchParts has those of B fetched that follow panels, where there is no row panel to
// fetch: of each chunk four pairs of lines, evenly apart, from which the processor goes on
// by itself. PanelB has to be set.
func (g *GemmArgs) FetchParts(f GemmFormat, panels uintptr) {
	const ahead = 8 << 10 // bytes: less and more gain half as much
	chunk := uintptr(f.Parts() * amxBytes * GemmChunk)
	g.NextA, g.LDNextA = panels+ahead, chunk/fetchedRows
	g.StepNextA, g.StepsA = chunk, g.PanelB
}

// FetchNothing has memory that is there fetched again and again.
func (g *GemmArgs) FetchNothing(there unsafe.Pointer) {
	g.NextA, g.LDNextA, g.StepNextA, g.StepsA = uintptr(there), 0, 0, 0
}

// fetchedBytes is what is fetched of a row for a chunk, whole lines.
func (f GemmFormat) fetchedBytes() int {
	if f.Splits() { // before they are split
		return 4 * SplitValues
	}
	return amxBytes
}

// SetK sets the number of K steps.
func (g *GemmArgs) SetK(k int) {
	g.Blocks, g.Rest = uintptr(k/GemmUnroll), uintptr(k%GemmUnroll)
}

// SetPart sets the bytes that rows of A hold of a last step: 1 to 3, or 0 for
// none such.
func (g *GemmArgs) SetPart(bytes int) { g.Part = 1<<bytes - 1 }

// SetMask makes the first n lanes of a format count, 1 <= n <= those of isa.
func (g *GemmArgs) SetMask(isa asm.ISA, f GemmFormat, n int) {
	g.Mask = [8]uint32{}
	if isa == asm.AVX512 {
		g.Mask[0] = 1<<n - 1
		return
	}
	for i := range n * f.Word() / 4 {
		g.Mask[i] = ^uint32(0)
	}
}

// GemmKernels are the offsets of tile kernels in Code: for every height up to
// Tile.Rows the full width, and tails of every number of vectors.
type GemmKernels struct {
	ISA    asm.ISA
	Format GemmFormat
	Tile   GemmTile
	Form   GemmForm
	Code   []byte
	// Full[rows] has Tile.Vectors vectors. Tail[rows][vectors] masks the last
	// vector. Both begin at index 1.
	Full []int
	Tail [][]int
}

// EmitGemm emits the tile kernels of a tile shape.
func EmitGemm(isa asm.ISA, format GemmFormat, tile GemmTile, form GemmForm) (*GemmKernels, error) {
	g := &GemmKernels{ISA: isa, Format: format, Tile: tile, Form: form, Full: make([]int, tile.Rows+1), Tail: make([][]int, tile.Rows+1)}
	for rows := 1; rows <= tile.Rows; rows++ {
		g.Tail[rows] = make([]int, tile.Vectors+1)
		var err error
		if g.Full[rows], err = g.add(GemmTile{rows, tile.Vectors}, false); err != nil {
			return nil, err
		}
		for v := 1; v <= tile.Vectors; v++ {
			if g.Tail[rows][v], err = g.add(GemmTile{rows, v}, true); err != nil {
				return nil, err
			}
		}
	}
	return g, nil
}

// Listing is code for people, as Asm.Listing.
type Listing struct {
	Name, Text string
	Bytes      int
}

// Listing is the code of a whole tile.
func (g *GemmKernels) Listing() (Listing, error) {
	name := fmt.Sprintf("tile of %d rows x %d columns", g.Tile.Rows, g.Tile.Vectors*g.Format.Lanes(g.ISA))
	name += [...]string{"", ", left operand by columns", ", left operand by columns far apart", ", right operand where tables say", ", results past the caches", ", what follows of the right operand fetched"}[g.Form]
	a, err := emitGemmTile(g.ISA, g.Format, g.Tile, false, g.Form, g.Tile.fetches(g.ISA, g.Format))
	if err != nil {
		return Listing{}, err
	}
	code, err := a.Finish()
	return Listing{name, a.Listing(), len(code)}, err
}

// add appends one kernel, aligned to 64 bytes.
func (g *GemmKernels) add(tile GemmTile, tail bool) (offset int, err error) {
	a, err := emitGemmTile(g.ISA, g.Format, tile, tail, g.Form, g.Tile.fetches(g.ISA, g.Format))
	if err != nil {
		return 0, err
	}
	code, err := a.Finish()
	if err != nil {
		return 0, fmt.Errorf("gemm kernel %dx%d: %w", tile.Rows, tile.Vectors, err)
	}
	for len(g.Code)%64 != 0 {
		g.Code = append(g.Code, 0xCC) // int3
	}
	offset = len(g.Code)
	g.Code = append(g.Code, code...)
	return offset, nil
}
