package report

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	_ "gonum.org/v1/plot/vg/vgimg" // png
	_ "gonum.org/v1/plot/vg/vgsvg" // svg

	"github.com/sinterml/sinter/train"
)

// Curves collects the losses of a run and the scores of its evaluations, to be
// drawn over the steps. The zero Curves is empty.
type Curves struct {
	losses plotter.XYs
	scores map[string]plotter.XYs
}

// Add takes what Options.Report is told.
func (c *Curves) Add(e train.Event) {
	if !e.EpochEnd {
		c.losses = appendFinite(c.losses, e.Step, e.Loss)
	}
	for name, v := range e.Scores.Values() {
		if c.scores == nil {
			c.scores = map[string]plotter.XYs{}
		}
		c.scores[name] = appendFinite(c.scores[name], e.Step, v)
	}
}

// appendFinite leaves out what no axis has a place for.
func appendFinite(to plotter.XYs, step int, v float64) plotter.XYs {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return to
	}
	return append(to, plotter.XY{X: float64(step), Y: v})
}

// Size of the plot.
const width, height = 8 * vg.Inch, 5 * vg.Inch

// most is how many points of the loss are drawn: more are averaged in groups.
const most = 1000

// Draw writes the plot as png or svg.
func (c *Curves) Draw(w io.Writer, format string) error {
	if w == nil {
		return errors.New("report: nowhere to draw: the writer is nil")
	}
	if format != "png" && format != "svg" {
		return fmt.Errorf("report: no format %q: use png or svg", format)
	}
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "step", "loss"
	p.Add(plotter.NewGrid())
	p.Legend.Top = true
	if err := addLine(p, "loss", averaged(c.losses), color.Gray{Y: 0x88}); err != nil {
		return err
	}
	for i, name := range slices.Sorted(maps.Keys(c.scores)) {
		if err := addLine(p, name, c.scores[name], plotutil.Color(i)); err != nil {
			return err
		}
	}
	image, err := p.WriterTo(width, height, format)
	if err != nil {
		return fmt.Errorf("report: drawing: %w", err)
	}
	_, err = image.WriteTo(w)
	return err
}

func addLine(p *plot.Plot, name string, points plotter.XYs, c color.Color) error {
	if len(points) == 0 {
		return nil
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return fmt.Errorf("report: drawing %s: %w", name, err)
	}
	line.Color, line.Width = c, vg.Points(1.2)
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}

// averaged is the means of groups of points, so that at most so many are left.
func averaged(points plotter.XYs) plotter.XYs {
	group := (len(points) + most - 1) / most
	if group <= 1 {
		return points
	}
	var means plotter.XYs
	for part := range slices.Chunk(points, group) {
		var m plotter.XY
		for _, p := range part {
			m.X += p.X / float64(len(part))
			m.Y += p.Y / float64(len(part))
		}
		means = append(means, m)
	}
	return means
}
