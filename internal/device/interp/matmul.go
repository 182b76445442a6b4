package interp

// matMul multiplies the matrices of each batch.
func (numbers[T, A]) matMul(c *call) {
	x, y := c.in[0].shape, c.in[1].shape
	r := len(x)
	m, k, n := x[r-2], x[r-1], y[r-1]
	for b := range numel(x[:r-2]) {
		product[T, A](view[T](c.out[0])[b*m*n:][:m*n], view[T](c.in[0])[b*m*k:][:m*k], view[T](c.in[1])[b*k*n:][:k*n], k, n)
	}
}

// product is out = x*y for x [m, k] and y [k, n]. Each element sums over k in
// order; four rows at a time share the conversion of y.
func product[T, A number](out, x, y []T, k, n int) {
	const block = 4
	acc := make([]A, block*n)
	for len(out) > 0 {
		m := min(block, len(out)/max(n, 1))
		clear(acc)
		if m == block {
			rows4(acc, x, y, k, n)
		} else {
			for i := range m {
				row1(acc[i*n:][:n], x[i*k:][:k], y)
			}
		}
		for i, v := range acc[:m*n] {
			out[i] = T(v)
		}
		out, x = out[m*n:], x[m*k:]
	}
}

// row1 adds a row of x times y. The conversion of each product keeps it from
// being fused with the sum.
func row1[T, A number](acc []A, x, y []T) {
	n := len(acc)
	for p, a := range x {
		a := A(a)
		for j, b := range y[p*n:][:n] {
			acc[j] += A(a * A(b))
		}
	}
}

func rows4[T, A number](acc []A, x, y []T, k, n int) {
	c0, c1, c2, c3 := acc[:n], acc[n:][:n], acc[2*n:][:n], acc[3*n:][:n]
	for p := range k {
		a0, a1, a2, a3 := A(x[p]), A(x[k+p]), A(x[2*k+p]), A(x[3*k+p])
		for j, v := range y[p*n:][:n] {
			b := A(v)
			c0[j] += A(a0 * b)
			c1[j] += A(a1 * b)
			c2[j] += A(a2 * b)
			c3[j] += A(a3 * b)
		}
	}
}
