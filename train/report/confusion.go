package report

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sinterml/sinter/train"
)

// shares is a confusion matrix as a heat map wants it: the first label on top,
// each count as a share of its label's.
type shares train.Confusion

func (s shares) Dims() (c, r int) { return len(s), len(s) }
func (s shares) X(c int) float64  { return float64(c) }
func (s shares) Y(r int) float64  { return float64(r) }

func (s shares) Z(c, r int) float64 {
	row, total := s[len(s)-1-r], 0
	for _, n := range row {
		total += n
	}
	return float64(row[c]) / float64(max(1, total))
}

// DrawConfusion writes a confusion matrix as a png: labels downwards, what was
// found to the right. Names of the classes may be left out.
func DrawConfusion(w io.Writer, c train.Confusion, names []string) error {
	if w == nil {
		return errors.New("report: nowhere to draw: the writer is nil")
	}
	if len(c) == 0 {
		return errors.New("report: a confusion matrix of no classes")
	}
	for i, row := range c {
		if len(row) != len(c) {
			return fmt.Errorf("report: row %d of the confusion matrix has %d columns, not %d", i, len(row), len(c))
		}
	}
	if names == nil {
		for i := range c {
			names = append(names, strconv.Itoa(i))
		}
	}
	if len(names) != len(c) {
		return fmt.Errorf("report: %d names for %d classes", len(names), len(c))
	}
	scale := moreland.ExtendedBlackBody()
	scale.SetMin(-0.1)
	scale.SetMax(1.1)
	heat := plotter.NewHeatMap(shares(c), scale.Palette(256))
	heat.Min, heat.Max = -0.1, 1.1 // neither black nor white: counts are to be read
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%.2f %% of %d", 100*c.Accuracy(), c.Total())
	p.X.Label.Text, p.Y.Label.Text = "found", "label"
	p.Add(heat)
	counts, err := countsOf(c)
	if err != nil {
		return err
	}
	p.Add(counts)
	p.NominalX(names...)
	down := make([]string, len(names))
	for i, n := range names {
		down[len(names)-1-i] = n
	}
	p.NominalY(down...)
	side := vg.Length(80 + 40*len(c))
	image, err := p.WriterTo(side, side, "png")
	if err != nil {
		return fmt.Errorf("report: drawing: %w", err)
	}
	_, err = image.WriteTo(w)
	return err
}

// countsOf are the numbers in the cells.
func countsOf(c train.Confusion) (*plotter.Labels, error) {
	var at plotter.XYLabels
	for i, row := range c {
		for j, n := range row {
			if n > 0 {
				at.XYs = append(at.XYs, plotter.XY{X: float64(j), Y: float64(len(c) - 1 - i)})
				at.Labels = append(at.Labels, strconv.Itoa(n))
			}
		}
	}
	labels, err := plotter.NewLabels(at)
	if err != nil {
		return nil, fmt.Errorf("report: drawing counts: %w", err)
	}
	for i := range labels.TextStyle {
		labels.TextStyle[i].XAlign, labels.TextStyle[i].YAlign = draw.XCenter, draw.YCenter
		labels.TextStyle[i].Color = plotter.DefaultGlyphStyle.Color
	}
	return labels, nil
}
