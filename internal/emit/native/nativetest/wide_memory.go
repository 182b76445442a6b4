package nativetest

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// wideAccesses read and write lanes of 8 bytes under conditions and apart, and set locals
// of them.
func wideAccesses(f func(name string, c *looptest.Case) error) error {
	for _, d := range []ir.DType{f64, i64} {
		for _, body := range []string{
			"for vector i < size(N) {\ny[i] = x[i ? x[i] < z[i]]\n}",
			"for vector i < size(N) {\ny[i ? x[i] < z[i]] = z[i]\n}",
			"for vector i < size(N) {\ny[i] = x[i ? and(1 < i, i < size(N) - 2)]\n}",
			"for vector i < size(N) {\ny[i] = where(i < 7, x[0], z[size(N) - 1])\n}",
			"for vector i < size(N) {\ny[i] = x[3 ? x[i] < z[i]]\n}",
			"for vector i < size(N) {\ny[5*i] = x[size(3*N) - 1 - 3*i]\n}",
			"for vector i < size(N) {\ny[i] = x[size(N) - i]\n}",
			"for vector i < size(N) {\ny[i] = x[512*i]\n}",
			"for vector i < size(N) {\nt = x[i]\nfor serial k < size(N) {\nt = z[k]\n}\ny[i] = t\n}",
			// What has another name for a local's registers, when that is set again.
			"for vector i < size(N) {\nt = x[i]\nw = bitcast.OTHER(t)\nt = x[i + 1]\ny[i] = bitcast.TYPE(w) + t\n}",
			"for vector i < size(N) {\nt = x[i]\ny[i] = t\nt = bitcast.TYPE(bitcast.OTHER(z[i]) + bitcast.OTHER(z[0]))\ny[i + size(N)] = t\nt = x[i + 1]\ny[i + size(2*N)] = bitcast.TYPE(bitcast.OTHER(z[i]) + bitcast.OTHER(z[0])) + t\n}",
			"for global i < size(N) {\nt = x[i]\nw = neg(neg(t))\nt = z[i]\ny[i] = w + t\n}",
			"for vector i < size(N) {\ny[i] = x[index(cast.i64(z[i]), 9*N, 0)]\n}",
			"a = TYPE(1)\nfor vector i < size(N) {\na max= x[i ? i < 5]\n}\ny[0] = a",
			"for serial i < size(N) {\ny[i] = where(x[i] < z[i], x[i ? z[i] < x[0]], z[i]) + x[i]\n}",
		} {
			if err := wideAccess(d, body, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func wideAccess(d ir.DType, body string, f func(name string, c *looptest.Case) error) error {
	text := fmt.Sprintf("kernel \"wide\"\nslots 1\nsymbol N 4 1000\nparam x %[1]v[512*N] read\nparam z %[1]v[N] read\nparam y %[1]v[5*N] write\n", d)
	other := f64
	if d == f64 {
		other = i64
	}
	k, err := Parse(text + strings.NewReplacer("TYPE", d.String(), "OTHER", other.String()).Replace(body))
	if err != nil {
		return fmt.Errorf("%s: %w", body, err)
	}
	values := wideValues(d)
	for _, n := range []int{4, 8, 16, 61, 150} {
		c := &looptest.Case{Kernel: k}
		c.Args.Sizes, c.Args.Status = ir.Env{"N": n}, make([]int64, k.Slots)
		for i, p := range k.Params {
			size, err := p.Len.Eval(c.Args.Sizes)
			if err != nil {
				return err
			}
			var b []byte
			for j := range size {
				b = appendBits(b, d, values[(j*(2*i+1)+i*j*j/7)%len(values)])
			}
			c.Args.Buffers = append(c.Args.Buffers, b)
		}
		if err := f(fmt.Sprintf("%s of %v, N=%d", body, d, n), c); err != nil {
			return err
		}
	}
	return nil
}
