package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// chart is panels of horizontal bars.
type chart struct {
	title  string  // for those who cannot see it
	full   float64 // the value of the longest bar; 0: each panel has its own
	panels []panel
}

type panel struct {
	title string
	bars  []bar
}

type bar struct {
	label string
	dtype string // chooses the colour
	value float64
	peer  bool // another library's: paler
}

// The page may be light or dark, and an image does not know: these colours have
// contrast with both.
const textColour = "#7b8490"

var colours = map[string]string{"f32": "#3d7fc1", "bf16": "#3a9a6c", "int8": "#d07f2e"}

// Sizes in pixels.
const (
	chartWidth            = 820
	barHeight, barStep    = 13, 17
	titleHeight, panelGap = 24, 18
	numberWidth           = 58
)

// layout is the panels in a row and the width of labels: shares need little room.
func (c chart) layout() (columns, labelWidth int) {
	if c.full > 0 {
		return 3, 48
	}
	return 2, 150
}

// svg draws the chart, panels in rows.
func (c chart) svg() string {
	var body strings.Builder
	columns, _ := c.layout()
	top := 0
	for i := 0; i < len(c.panels); i += columns {
		row := c.panels[i:min(i+columns, len(c.panels))]
		tallest := 0
		for j, p := range row {
			c.drawPanel(&body, p, j*chartWidth/columns, top)
			tallest = max(tallest, len(p.bars))
		}
		top += titleHeight + tallest*barStep + panelGap
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui, sans-serif" font-size="12" fill="%s" role="img">
<title>%s</title>
%s</svg>
`, chartWidth, top, chartWidth, top, textColour, html.EscapeString(c.title), body.String())
}

func (c chart) drawPanel(w *strings.Builder, p panel, left, top int) {
	columns, labelWidth := c.layout()
	longest := float64(chartWidth/columns - labelWidth - numberWidth)
	full := c.full
	for _, b := range p.bars {
		if c.full == 0 {
			full = max(full, b.value)
		}
	}
	fmt.Fprintf(w, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n", left, top+15, html.EscapeString(p.title))
	for i, b := range p.bars {
		y := top + titleHeight + i*barStep
		length, numberAt, opacity := 0.0, 0.0, 1.0
		if full > 0 {
			length = longest * min(1, b.value/full)
		}
		numberAt = length
		if b.peer {
			opacity = 0.45
		}
		fmt.Fprintf(w, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", left+labelWidth-6, y+11, html.EscapeString(b.label))
		if c.full > 0 { // what is missing to the bound
			numberAt = longest
			fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" opacity=\"0.15\"/>", left+labelWidth, y, longest, barHeight)
		}
		fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\" opacity=\"%g\"/>", left+labelWidth, y, length, barHeight, colours[b.dtype], opacity)
		fmt.Fprintf(w, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", float64(left+labelWidth)+numberAt+6, y+11, c.number(b.value))
	}
}

func (c chart) number(v float64) string {
	if c.full > 0 { // a share
		return fmt.Sprintf("%.2f", v)
	}
	return rate(v)
}

// rate prints three digits, or all that stand before the point.
func rate(v float64) string {
	switch a := math.Abs(v); {
	case a >= 999.5:
		s := fmt.Sprintf("%.0f", v)
		return s[:len(s)-3] + "," + s[len(s)-3:]
	case a >= 99.95:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}
