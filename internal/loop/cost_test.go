package loop

import (
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

func TestCost(t *testing.T) {
	for _, c := range []struct {
		name, text    string
		env           ir.Env
		ops           float64
		read, written float64 // bytes
	}{
		{"a chain", `kernel "k"
symbol N 0 100000
param x f32[N] read
param v f32[1] read
param y f32[N] write
for vector i < size(N) {
	y[i] = fma(x[i], v[0], f32(1)) + x[i]
}`, ir.Env{"N": 1000}, 3000, 4004, 4000},
		{"nothing", `kernel "k"
symbol N 0 100000
param x f32[N] read
param y f32[N] write
for vector i < size(N) {
	y[i] = x[i] + f32(1)
}`, ir.Env{"N": 0}, 0, 0, 0},
		{"blocks, the last of them short", `kernel "k"
symbol N 0 100000
param x f32[N] read
param y f32[N] write
for global b < idiv(size(N) + 4095, 4096) {
	for vector i = b*4096 to min(b*4096 + 4096, size(N)) {
		y[i] = x[i]*x[i]
	}
}`, ir.Env{"N": 10000}, 10000, 40000, 40000},
		{"rows, with work outside of the columns", `kernel "k"
symbol M 0 1000
param x f32[64*M] read
param y f32[64*M] write
for global r < size(M) {
	s = f32(0)
	for vector i < 64 {
		s add= x[r*64 + i]
	}
	m = s*f32(0.015625)
	for vector j < 64 {
		y[r*64 + j] = x[r*64 + j] - m
	}
}`, ir.Env{"M": 10}, 10*64 + 10 + 10*64, 2560, 2560},
		{"a table's rows", `kernel "k"
slots 1
symbol N 0 1000
param ids i32[N] read
param table f32[1000000] read
param y f32[4*N] write
for global r < size(N) {
	for vector i < 4 {
		y[r*4 + i] = table[index(cast.i64(ids[r]), 250000, 0)*4 + i]
	}
}`, ir.Env{"N": 7}, 0, 7*4 + 7*16, 7 * 16},
	} {
		k, err := Parse(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		cost, err := CostOf(k, c.env)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		read, written, err := cost.Bytes(k, c.env)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if cost.Operations != c.ops || read != c.read || written != c.written {
			t.Errorf("%s: %v operations, %v bytes read, %v written; want %v, %v, %v", c.name, cost.Operations, read, written, c.ops, c.read, c.written)
		}
	}
}
