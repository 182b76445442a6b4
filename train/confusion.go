package train

import (
	"fmt"
	"math"
	"strings"
)

// Confusion counts rows by label (the first index) and by the class that a net
// found (the second).
type Confusion [][]int

// confusionOf arranges the sums of a ConfusionMatrix, row by row.
func confusionOf(sums []float64) Confusion {
	classes := int(math.Sqrt(float64(len(sums))))
	c := make(Confusion, classes)
	for i := range c {
		c[i] = make([]int, classes)
		for j := range c[i] {
			c[i][j] = int(sums[i*classes+j])
		}
	}
	return c
}

// at is a count, 0 where there is no such class.
func (c Confusion) at(label, found int) int {
	if label < len(c) && found < len(c[label]) {
		return c[label][found]
	}
	return 0
}

// Total is the number of rows.
func (c Confusion) Total() int {
	n := 0
	for i := range c {
		for j := range c[i] {
			n += c[i][j]
		}
	}
	return n
}

// Accuracy is the share of rows whose label was found; of no rows NaN.
func (c Confusion) Accuracy() float64 {
	right := 0
	for i := range c {
		right += c.at(i, i)
	}
	return float64(right) / float64(c.Total())
}

// F1 is the score of each class: 2PR/(P+R), or 0 where the class has no rows
// and is never found.
func (c Confusion) F1() []float64 {
	f1 := make([]float64, len(c))
	for i := range c {
		labelled, found := 0, 0
		for j := range c {
			labelled += c.at(i, j)
			found += c.at(j, i)
		}
		if n := labelled + found; n > 0 {
			f1[i] = 2 * float64(c.at(i, i)) / float64(n)
		}
	}
	return f1
}

// MacroF1 is the mean of the classes' scores.
func (c Confusion) MacroF1() float64 {
	sum := 0.0
	for _, f := range c.F1() {
		sum += f
	}
	return sum / float64(len(c))
}

// String is a table: a line for each label, a column for each class found. The
// share of a label's rows is drawn as a shade beside each count.
func (c Confusion) String() string {
	if len(c) == 0 {
		return "no classes\n"
	}
	width := max(len(fmt.Sprint(c.Total())), len(fmt.Sprint(len(c)-1)))
	var b strings.Builder
	fmt.Fprintf(&b, "%*s", width+1, "")
	for j := range c {
		fmt.Fprintf(&b, " %*d ", width, j)
	}
	b.WriteByte('\n')
	for i := range c {
		total := 0
		for j := range c {
			total += c.at(i, j)
		}
		fmt.Fprintf(&b, "%*d ", width, i)
		for j := range c {
			fmt.Fprintf(&b, " %*d%c", width, c.at(i, j), shade(c.at(i, j), total))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// shade is a block as dense as n is a share of total.
func shade(n, total int) rune {
	shades := []rune(" ░▒▓█")
	if n <= 0 || total <= 0 {
		return shades[0]
	}
	steps := len(shades) - 1
	return shades[max(1, (2*n*steps+total)/(2*total))] // rounded
}
