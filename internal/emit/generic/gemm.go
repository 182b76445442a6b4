package generic

import "fmt"

// A tile of 4x2 sums with its operands just fits the 15 float registers that
// Go uses on amd64, and is the fastest of the shapes from 1x8 to 6x2 there.
const (
	tileRows = 4
	tileCols = 2
	// Per pass over A: depthBlock x colBlock of B, 128 KB, stay in the second
	// cache, and depthBlock of tileRows rows of A in the first.
	depthBlock = 512
	colBlock   = 64
)

// Packed is the right operand of a product: panels of tileCols columns, each
// with its K values of a row together, the last filled up with zeros.
type Packed struct {
	K, N int
	data []float32
}

// PackB packs b, which is [K, N] with ldb elements from row to row or, if
// transposed, [N, K]. It reuses the memory of buf where that is enough.
func PackB(buf []float32, b []float32, ldb, k, n int, transposed bool) (Packed, error) {
	rows, cols := k, n
	if transposed {
		rows, cols = n, k
	}
	if err := checkMatrix("B", len(b), ldb, rows, cols); err != nil {
		return Packed{}, err
	}
	size := (n + tileCols - 1) / tileCols * tileCols * k
	if cap(buf) < size {
		buf = make([]float32, size)
	}
	p := Packed{k, n, buf[:size]}
	for j := range len(p.data) / max(k, 1) {
		panel := p.panel(j / tileCols)
		for i := range k {
			var x float32
			switch {
			case j >= n:
			case transposed:
				x = b[j*ldb+i]
			default:
				x = b[i*ldb+j]
			}
			panel[i*tileCols+j%tileCols] = x
		}
	}
	return p, nil
}

// Data is the packed elements: what PackB may be given as buf again.
func (p Packed) Data() []float32 { return p.data }

// Columns is the columns lo to hi, for workers that share a product with few
// rows. lo must be even.
func (p Packed) Columns(lo, hi int) (Packed, error) {
	if lo < 0 || lo%tileCols != 0 || hi < lo || hi > p.N {
		return Packed{}, fmt.Errorf("columns %d to %d of %d packed ones: begin at a multiple of %d", lo, hi, p.N, tileCols)
	}
	end := (hi + tileCols - 1) / tileCols * tileCols
	return Packed{p.K, hi - lo, p.data[lo*p.K : end*p.K]}, nil
}

func (p Packed) panel(i int) []float32 { return p.data[i*tileCols*p.K:][:tileCols*p.K] }

func checkMatrix(name string, have, ld, rows, cols int) error {
	if rows < 0 || cols < 0 || ld < cols {
		return fmt.Errorf("matrix %s is %d x %d with %d elements a row", name, rows, cols, ld)
	}
	if rows > 0 && (rows-1)*ld+cols > have {
		return fmt.Errorf("matrix %s is %d x %d with %d elements a row, but holds %d", name, rows, cols, ld, have)
	}
	return nil
}

// Gemm computes dst = a*b, or adds to dst if accumulate, for the m rows of a
// and dst, lda and ldc elements apart. Each element is the sum over K, in blocks
// of depthBlock from zero, one product and one rounding after the other, and
// the blocks' sums added in order; so its bits depend on nothing but its row of
// a and its column of b.
func Gemm(dst []float32, ldc int, a []float32, lda int, b Packed, m int, accumulate bool) error {
	if err := checkMatrix("A", len(a), lda, m, b.K); err != nil {
		return err
	}
	if err := checkMatrix("C", len(dst), ldc, m, b.N); err != nil {
		return err
	}
	var rows [tileRows * depthBlock]float32
	// The first pass runs even where K is 0, to clear dst.
	for k := 0; k == 0 || k < b.K; k += depthBlock {
		depth := min(depthBlock, b.K-k)
		for j := 0; j < b.N; j += colBlock {
			cols := min(colBlock, b.N-j)
			for i := 0; i < m; i += tileRows {
				t := tile{rows: min(tileRows, m-i), ldc: ldc, load: accumulate || k > 0}
				packRows(rows[:tileRows*depth], a[i*lda:], lda, k, t.rows)
				for c := 0; c < cols; c += tileCols {
					panel := b.panel((j + c) / tileCols)[k*tileCols:][:depth*tileCols]
					t.cols = min(tileCols, cols-c)
					t.run(dst[i*ldc+j+c:], rows[:tileRows*depth], panel)
				}
			}
		}
	}
	return nil
}

// packRows puts column after column of n rows of a, from column k on, together.
// What it leaves in the place of missing rows does not matter: tile.run drops
// their sums.
func packRows(to, a []float32, lda, k, n int) {
	for r := range n {
		row := a[r*lda+k:][:len(to)/tileRows]
		for i, x := range row {
			to[i*tileRows+r] = x
		}
	}
}

// tile is the part of dst that one run of the kernel computes.
type tile struct {
	rows, cols, ldc int
	load            bool // add to what is there
}

func (t *tile) run(dst, a, b []float32) {
	var sums [tileRows * tileCols]float32
	gemmKernel(&sums, a, b)
	for r := range t.rows {
		row := dst[r*t.ldc:][:t.cols]
		if !t.load {
			copy(row, sums[r*tileCols:])
			continue
		}
		for c := range row {
			row[c] += sums[r*tileCols+c]
		}
	}
}

// gemmKernel adds the products of 4 rows and 2 columns over K. Four steps at
// once spread the cost of the bounds checks.
func gemmKernel(c *[tileRows * tileCols]float32, a, b []float32) {
	c00, c01, c10, c11 := c[0], c[1], c[2], c[3]
	c20, c21, c30, c31 := c[4], c[5], c[6], c[7]
	for len(a) >= 4*tileRows && len(b) >= 4*tileCols {
		x, y := (*[4 * tileRows]float32)(a), (*[4 * tileCols]float32)(b)
		b0, b1 := y[0], y[1]
		c00, c01 = c00+float32(x[0]*b0), c01+float32(x[0]*b1)
		c10, c11 = c10+float32(x[1]*b0), c11+float32(x[1]*b1)
		c20, c21 = c20+float32(x[2]*b0), c21+float32(x[2]*b1)
		c30, c31 = c30+float32(x[3]*b0), c31+float32(x[3]*b1)
		b0, b1 = y[2], y[3]
		c00, c01 = c00+float32(x[4]*b0), c01+float32(x[4]*b1)
		c10, c11 = c10+float32(x[5]*b0), c11+float32(x[5]*b1)
		c20, c21 = c20+float32(x[6]*b0), c21+float32(x[6]*b1)
		c30, c31 = c30+float32(x[7]*b0), c31+float32(x[7]*b1)
		b0, b1 = y[4], y[5]
		c00, c01 = c00+float32(x[8]*b0), c01+float32(x[8]*b1)
		c10, c11 = c10+float32(x[9]*b0), c11+float32(x[9]*b1)
		c20, c21 = c20+float32(x[10]*b0), c21+float32(x[10]*b1)
		c30, c31 = c30+float32(x[11]*b0), c31+float32(x[11]*b1)
		b0, b1 = y[6], y[7]
		c00, c01 = c00+float32(x[12]*b0), c01+float32(x[12]*b1)
		c10, c11 = c10+float32(x[13]*b0), c11+float32(x[13]*b1)
		c20, c21 = c20+float32(x[14]*b0), c21+float32(x[14]*b1)
		c30, c31 = c30+float32(x[15]*b0), c31+float32(x[15]*b1)
		a, b = a[4*tileRows:], b[4*tileCols:]
	}
	for len(a) >= tileRows && len(b) >= tileCols {
		b0, b1 := b[0], b[1]
		c00, c01 = c00+float32(a[0]*b0), c01+float32(a[0]*b1)
		c10, c11 = c10+float32(a[1]*b0), c11+float32(a[1]*b1)
		c20, c21 = c20+float32(a[2]*b0), c21+float32(a[2]*b1)
		c30, c31 = c30+float32(a[3]*b0), c31+float32(a[3]*b1)
		a, b = a[tileRows:], b[tileCols:]
	}
	*c = [tileRows * tileCols]float32{c00, c01, c10, c11, c20, c21, c30, c31}
}
