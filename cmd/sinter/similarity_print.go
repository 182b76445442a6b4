package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/sinterml/sinter"
)

// The columns of the table: the text, its number, and a cosine each.
const (
	labelWidth  = 24
	numberWidth = 5
	cosineWidth = 6
	mostShown   = 50 // rows and columns
)

// cornerSize is how many texts a terminal has room for, side by side.
func (a *app) cornerSize() int {
	width := terminalWidth(a.stdout)
	if width == 0 {
		width = 80
	}
	return max(1, min(mostShown, (width-labelWidth-1-numberWidth)/cosineWidth))
}

// printCorner shows the first texts as a table.
func (a *app) printCorner(ctx context.Context, set *textSet, d *sinter.Device) error {
	out := newLines(a.stdout)
	style := a.style()
	fmt.Fprintf(out, "%*s", labelWidth+1+numberWidth, "")
	for j := range set.vectors.Len() {
		fmt.Fprintf(out, "%*d", cosineWidth, j)
	}
	fmt.Fprintln(out)
	err := set.vectors.Matrix(ctx, d, func(i int, row []float32) error {
		fmt.Fprintf(out, "%s %*d", padded(set.labels[i], labelWidth), numberWidth, i)
		for j, v := range row {
			cell := fmt.Sprintf("%*.2f", cosineWidth, v)
			if i != j && v >= 0.8 {
				cell = style.paint(bold, cell)
			}
			fmt.Fprint(out, cell)
		}
		_, err := fmt.Fprintln(out)
		return err
	})
	if err != nil {
		return err
	}
	if shown := set.vectors.Len(); shown < set.texts {
		fmt.Fprintf(out, "The first %d of %d texts: --json, --npy FILE or --png FILE give all.\n", shown, set.texts)
	}
	return out.Flush()
}

// padded cuts or fills a text to a width in runes.
func padded(text string, width int) string {
	n := utf8.RuneCountInString(text)
	if n <= width {
		return text + strings.Repeat(" ", width-n)
	}
	runes := []rune(text)
	return string(runes[:width-3]) + "..."
}

// printGroups shows what says the same.
func (a *app) printGroups(g groupList, labels []string) error {
	out := newLines(a.stdout)
	style := a.style()
	digits := len(fmt.Sprint(max(0, len(labels)-1)))
	for _, group := range g.Groups {
		for n, i := range group {
			text := labels[i]
			if n == 0 {
				text = style.paint(bold, text)
			}
			fmt.Fprintf(out, "%*d  %s\n", digits, i, text)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "Groups: %d. Texts: %d, or %d if each group keeps one.\n", len(g.Groups), g.Texts, g.Unique)
	return out.Flush()
}

// shareOf is a share as steps of a progress bar.
func shareOf(share float64, steps int64) int64 { return int64(math.Round(share * float64(steps))) }
