package main

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/sinterml/sinter"
)

// matrixGrid is a matrix as a heat map wants it: the first row on top.
type matrixGrid [][]float64

func (g matrixGrid) Dims() (c, r int)   { return len(g), len(g) }
func (g matrixGrid) Z(c, r int) float64 { return g[len(g)-1-r][c] }
func (g matrixGrid) X(c int) float64    { return float64(c) }
func (g matrixGrid) Y(r int) float64    { return float64(r) }

// least is the smallest cosine, at most 0: the lower end of the colours.
func (g matrixGrid) least() float64 {
	least := 0.0
	for _, row := range g {
		for _, v := range row {
			if v < least {
				least = v
			}
		}
	}
	return least
}

// matrixPNG draws the matrix as a heat map.
func (a *app) matrixPNG(ctx context.Context, set *textSet, d *sinter.Device, path string) error {
	var grid matrixGrid
	err := set.vectors.Matrix(ctx, d, func(_ int, row []float32) error {
		wide := make([]float64, len(row))
		for j, v := range row {
			wide[j] = float64(v)
		}
		grid = append(grid, wide)
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(grid) == 0:
		return fmt.Errorf("there are no texts to draw")
	}
	image, err := drawMatrix(grid, set.labels)
	if err != nil {
		return err
	}
	out, err := a.createOutput(path)
	if err != nil {
		return err
	}
	_, err = vgimg.PngCanvas{Canvas: image}.WriteTo(out)
	return out.close(err)
}

// Sizes of a picture, in points.
const (
	cellSize  = 14.0   // of a cell with a label
	mapSize   = 700.0  // of a map without labels, which is divided among its cells
	margins   = 70.0   // around the map
	labelSize = 160.0  // beside it and below it
	barSize   = 60.0   // of the scale
	mostNamed = 60     // texts with labels; more have numbers
	labelTop  = 26     // runes of a label
	dpi       = 144    // pixels in 72 points
	colours   = 1 << 8 // of the scale
)

func drawMatrix(grid matrixGrid, labels []string) (*vgimg.Canvas, error) {
	scale := moreland.ExtendedBlackBody()
	scale.SetMin(grid.least())
	scale.SetMax(1)
	heat := plotter.NewHeatMap(grid, scale.Palette(colours))
	heat.Min, heat.Max = scale.Min(), scale.Max()
	heat.Rasterized = len(grid) > mostNamed

	p := plot.New()
	p.Title.Text = fmt.Sprintf("cosine similarity of %d texts", len(grid))
	p.Add(heat)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(grid))-0.5, -0.5, float64(len(grid))-0.5
	side := mapSize
	if len(grid) <= mostNamed {
		nameAxes(p, labels)
		side = cellSize*float64(len(grid)) + labelSize
	} else {
		p.X.Label.Text, p.Y.Label.Text = "text", "text"
		p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(wholeTicks), fromTop{len(grid)}
	}
	side = math.Max(side, 2*labelSize) + margins

	bar := plot.New()
	bar.Add(&plotter.ColorBar{ColorMap: scale, Vertical: true, Colors: colours})
	bar.HideX()
	bar.Y.Padding = 0

	image := vgimg.NewWith(vgimg.UseWH(vg.Length(side+barSize), vg.Length(side)), vgimg.UseDPI(dpi))
	all := draw.New(image)
	p.Draw(draw.Crop(all, 0, -barSize, 0, 0))
	bar.Draw(draw.Crop(all, vg.Length(side), -vg.Length(8), vg.Length(30), -vg.Length(30)))
	return image, nil
}

// nameAxes labels the cells with their texts.
func nameAxes(p *plot.Plot, labels []string) {
	names := make([]string, len(labels))
	down := make([]string, len(labels))
	for i, l := range labels {
		if r := []rune(l); len(r) > labelTop {
			l = string(r[:labelTop-3]) + "..."
		}
		names[i] = fmt.Sprintf("%s  %d", l, i)
		down[len(labels)-1-i] = names[i]
	}
	p.NominalX(names...)
	p.NominalY(down...)
	p.X.Tick.Label.Rotation = math.Pi / 2
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	p.Y.Tick.Label.XAlign, p.Y.Tick.Label.YAlign = draw.XRight, draw.YCenter
	p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size = 8, 8
	p.X.Padding, p.Y.Padding = 6, 0 // the height of a turned label is not reckoned with
}

// wholeTicks are marks at whole numbers.
func wholeTicks(lo, hi float64) []plot.Tick {
	var whole []plot.Tick
	for _, t := range (plot.DefaultTicks{}).Ticks(lo, hi) {
		if t.Value != math.Trunc(t.Value) {
			continue
		}
		if t.Label != "" {
			t.Label = strconv.Itoa(int(t.Value))
		}
		whole = append(whole, t)
	}
	return whole
}

// fromTop are the marks of an axis that counts downwards from n-1.
type fromTop struct{ n int }

func (f fromTop) Ticks(lo, hi float64) []plot.Tick {
	top := float64(f.n - 1)
	ticks := wholeTicks(top-hi, top-lo)
	for i := range ticks {
		ticks[i].Value = top - ticks[i].Value
	}
	return ticks
}
