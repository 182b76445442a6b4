package sinter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
)

// Einsum sums products of operands over named axes: "bij,bjk->bik" is a batch
// of matrix products. Each letter names an axis; one that the result lacks is
// summed over, one that comes twice in an operand takes its diagonal. Without
// "->" the result has the letters that come once, sorted.
func Einsum(equation string, operands ...Tensor) Tensor {
	if bad, ok := firstErr(operands...); ok {
		return bad
	}
	inputs, result, err := parseEinsum(equation, operands)
	if err != nil {
		return fail(fmt.Errorf("%q: %w", equation, err), operands...)
	}
	acc := term{operands[0], inputs[0]}.diagonal()
	for i := range inputs[1:] {
		// What later operands and the result still need stays.
		needed := result + strings.Join(inputs[i+2:], "")
		acc = product(acc, term{operands[i+1], inputs[i+1]}.diagonal(), needed)
	}
	acc = acc.sumBut(result)
	return acc.order(result).x
}

// term is a tensor with a letter for each axis.
type term struct {
	x    Tensor
	axes string
}

func parseEinsum(equation string, operands []Tensor) (inputs []string, result string, err error) {
	equation = strings.ReplaceAll(equation, " ", "")
	left, result, explicit := strings.Cut(equation, "->")
	inputs = strings.Split(left, ",")
	if len(operands) == 0 || len(inputs) != len(operands) {
		return nil, "", fmt.Errorf("names %d operands, got %d", len(inputs), len(operands))
	}
	sizes := map[rune]Dim{}
	var letters []rune
	for i, in := range inputs {
		shape := operands[i].v.Shape
		if len(in) != len(shape) {
			return nil, "", fmt.Errorf("%q names %d axes of an operand of rank %d", in, len(in), len(shape))
		}
		for j, c := range in {
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
				return nil, "", fmt.Errorf("%q is no letter", c)
			}
			if d, ok := sizes[c]; ok && !d.Equal(shape[j]) {
				return nil, "", fmt.Errorf("axis %c is both %v and %v", c, d, shape[j])
			}
			sizes[c] = shape[j]
			letters = append(letters, c)
		}
	}
	if !explicit {
		slices.Sort(letters)
		for _, c := range letters {
			if strings.Count(left, string(c)) == 1 {
				result += string(c)
			}
		}
	}
	for i, c := range result {
		if _, ok := sizes[c]; !ok {
			return nil, "", fmt.Errorf("axis %c of the result is in no operand", c)
		}
		if strings.ContainsRune(result[i+1:], c) {
			return nil, "", errors.New("the result names an axis twice")
		}
	}
	return inputs, result, nil
}

// diagonal joins axes of the same letter.
func (t term) diagonal() term {
	for i := 0; i < len(t.axes); i++ {
		j := strings.LastIndexByte(t.axes, t.axes[i])
		if j == i {
			continue
		}
		rank := len(t.axes)
		index := func(axis int) Tensor {
			shape := slices.Repeat(ir.Shape{N(1)}, rank)
			shape[axis] = t.x.Dim(axis)
			return Iota(I64, axis, shape...)
		}
		t.x = Where(index(i).Equal(index(j)), t.x, t.x.like(0)).Sum(j)
		t.axes = t.axes[:j] + t.axes[j+1:]
		i--
	}
	return t
}

// sumBut sums over the axes that are not in keep.
func (t term) sumBut(keep string) term {
	var axes []int
	var left string
	for i, c := range t.axes {
		if strings.ContainsRune(keep, c) {
			left += string(c)
		} else {
			axes = append(axes, i)
		}
	}
	if axes == nil {
		return t
	}
	return term{t.x.Sum(axes...), left}
}

// order permutes the axes.
func (t term) order(axes string) term {
	order := make([]int, len(axes))
	for i := range axes {
		order[i] = strings.IndexByte(t.axes, axes[i])
	}
	return term{t.x.Permute(order...), axes}
}

// product multiplies two terms and sums over their axes that nobody needs, as
// one matrix product: shared axes that stay are its batch, shared ones that go
// its inner size.
func product(a, b term, needed string) term {
	a, b = a.sumBut(needed+b.axes), b.sumBut(needed+a.axes)
	var batch, inner, rows, columns string
	for _, c := range a.axes {
		switch shared := strings.ContainsRune(b.axes, c); {
		case shared && strings.ContainsRune(needed, c):
			batch += string(c)
		case shared:
			inner += string(c)
		default:
			rows += string(c)
		}
	}
	for _, c := range b.axes {
		if !strings.ContainsRune(a.axes, c) {
			columns += string(c)
		}
	}
	sizes := func(t term, axes string) ir.Shape {
		var s ir.Shape
		for i := range axes {
			s = append(s, t.x.Dim(strings.IndexByte(t.axes, axes[i])))
		}
		return s
	}
	bs, ks, ms, ns := sizes(a, batch), sizes(a, inner), sizes(a, rows), sizes(b, columns)
	x := a.order(batch + rows + inner).x.reshape(ir.Shape{bs.Numel(), ms.Numel(), ks.Numel()})
	y := b.order(batch + inner + columns).x.reshape(ir.Shape{bs.Numel(), ks.Numel(), ns.Numel()})
	z := x.MatMul(y).reshape(slices.Concat(bs, ms, ns))
	return term{z, batch + rows + columns}
}
