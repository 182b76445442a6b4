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
// "->" the result has the letters that come once, sorted. "..." stands for the
// axes of an operand that no letter names, which broadcast, as in
// "...ij,...jk->...ik"; without "->" they come first.
func Einsum(equation string, operands ...Tensor) Tensor {
	if bad, ok := firstErr(operands...); ok {
		return bad
	}
	given := operands
	inputs, result, operands, err := parseEinsum(equation, operands)
	if err != nil {
		return fail(fmt.Errorf("%q: %w", equation, err), given...)
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

// parseEinsum gives each operand, without the axes of size 1 that broadcast, and
// the result a letter for each axis.
func parseEinsum(equation string, operands []Tensor) (inputs []string, result string, left []Tensor, err error) {
	terms, result, explicit := strings.Cut(strings.ReplaceAll(equation, " ", ""), "->")
	inputs = strings.Split(terms, ",")
	if len(operands) == 0 || len(inputs) != len(operands) {
		return nil, "", nil, fmt.Errorf("names %d operands, got %d", len(inputs), len(operands))
	}
	rest, left, err := nameRest(terms+result, inputs, operands)
	if err != nil {
		return nil, "", nil, err
	}
	result = strings.Replace(result, ellipsis, rest, 1)
	if !explicit {
		result = rest
	}
	result, err = checkEinsum(inputs, result, explicit, left)
	return inputs, result, left, err
}

const ellipsis = "..."

// nameRest puts letters that the equation lacks in place of "..." in inputs. They
// are all of rest, from the last axis on. Axes of size 1 among those, where another
// operand has more, leave their operand.
func nameRest(equation string, inputs []string, operands []Tensor) (rest string, left []Tensor, err error) {
	counts := make([]int, len(inputs)) // of axes without a letter
	for i, in := range inputs {
		if !strings.Contains(in, ellipsis) {
			continue
		}
		letters := len(in) - len(ellipsis)
		if counts[i] = operands[i].Rank() - letters; counts[i] < 0 {
			return "", nil, fmt.Errorf("%q names %d axes of an operand of rank %d", in, letters, operands[i].Rank())
		}
	}
	for c := 'a'; len(rest) < slices.Max(counts); c++ {
		if c == 'z'+1 {
			c = 'A'
		}
		if c == 'Z'+1 {
			return "", nil, errors.New("there are not letters enough for all axes")
		}
		if !strings.ContainsRune(equation, c) {
			rest += string(c)
		}
	}
	long := map[byte]bool{} // letters of axes that are not of size 1
	each := func(do func(i, axis int, c byte)) {
		for i, n := range counts {
			for j := range n {
				do(i, strings.Index(inputs[i], ellipsis)+j, rest[len(rest)-n+j])
			}
		}
	}
	each(func(i, axis int, c byte) { long[c] = long[c] || !operands[i].Dim(axis).IsConst(1) })
	left = slices.Clone(operands)
	gone := make([][]int, len(inputs))
	names := make([]string, len(inputs))
	each(func(i, axis int, c byte) {
		if long[c] && operands[i].Dim(axis).IsConst(1) {
			gone[i] = append(gone[i], axis)
		} else {
			names[i] += string(c)
		}
	})
	for i, axes := range gone {
		if axes != nil {
			left[i] = left[i].Squeeze(axes...)
		}
		inputs[i] = strings.Replace(inputs[i], ellipsis, names[i], 1)
	}
	return rest, left, nil
}

// checkEinsum finds what does not fit, and what the result is where the equation
// does not say: the letters that come once, behind what it has already.
func checkEinsum(inputs []string, result string, explicit bool, operands []Tensor) (string, error) {
	sizes := map[rune]Dim{}
	var letters []rune
	for i, in := range inputs {
		shape := operands[i].v.Shape
		if len(in) != len(shape) {
			return "", fmt.Errorf("%q names %d axes of an operand of rank %d", in, len(in), len(shape))
		}
		for j, c := range in {
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
				return "", fmt.Errorf("%q is no letter", c)
			}
			if d, ok := sizes[c]; ok && !d.Equal(shape[j]) {
				return "", fmt.Errorf("axis %c is both %v and %v", c, d, shape[j])
			}
			sizes[c] = shape[j]
			letters = append(letters, c)
		}
	}
	if !explicit {
		slices.Sort(letters)
		for _, c := range letters {
			if strings.Count(strings.Join(inputs, ""), string(c)) == 1 && !strings.ContainsRune(result, c) {
				result += string(c)
			}
		}
	}
	for i, c := range result {
		if _, ok := sizes[c]; !ok {
			return "", fmt.Errorf("axis %c of the result is in no operand", c)
		}
		if strings.ContainsRune(result[i+1:], c) {
			return "", errors.New("the result names an axis twice")
		}
	}
	return result, nil
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
