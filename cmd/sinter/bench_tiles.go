package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// This file is `bench gemm --assert`: every candidate for the tile of a product
// is timed, and the one that would be chosen must not be far behind the best.

const (
	tileSlack  = 1.05 // the time of the chosen tile by that of the best
	tileRounds = 15
	tileTries  = 3 // of a shape: on a shared machine one may go wrong
	tileDriver = "tile"
)

// assertTiles compares the candidates of one shape, and returns an error that
// names it if the choice is too slow.
func (b *benchRun) assertTiles(ctx context.Context, s gemmShape, isa, dtype string) error {
	target, ok := bench.Target(isa)
	if !ok {
		return nil
	}
	if time.Now().After(b.end) {
		b.late++
		return nil
	}
	o := gemmOperands(s, dtype)
	host := cpuid.Host()
	core := x86.CoreOf(&host, target)
	format := bench.Format(isa, dtype)
	if format.Splits() && !cpu.SplitPays(format, s.m, s.m, s.n, s.k, true) {
		format = x86.GemmF32
	}
	tiles := x86.GemmTiles(target, format)
	steps := (s.k + format.Group() - 1) / format.Group()
	shape, chosen := x86.GemmShape{Rows: s.m, Cols: s.n, Steps: steps}, 0
	if !core.StoresPast(target, format, shape, b.threads[0]) { // then all candidates do, and it is the first
		chosen = slices.Index(tiles, core.Tile(target, format, shape))
	}
	var ratios []float64
	for range tileTries {
		seconds, err := b.timeTiles(ctx, o, isa, tiles)
		if err != nil {
			return err
		}
		ratios = make([]float64, len(tiles))
		for i := range tiles {
			ratios[i] = medianRatio(seconds[i], seconds[chosen])
		}
		best := slices.Min(ratios)
		rows := make([]bench.Row, len(tiles))
		for i, t := range tiles {
			slices.Sort(seconds[i])
			rows[i] = bench.Row{
				Name: tileName(target, t), Shape: []int{s.m, s.n, s.k}, DType: dtype, ISA: isa, Threads: b.threads[0], Set: s.set, Unit: "GFLOP/s",
				Seconds: seconds[i][len(seconds[i])/2], Share: best / ratios[i],
			}
			if i == chosen {
				rows[i].Name += " chosen"
			}
			rows[i].Rate = 2 * float64(s.m) * float64(s.n) * float64(s.k) / rows[i].Seconds / 1e9
			rows[i].Bound = rows[i].Rate / rows[i].Share // what the best of them reaches
		}
		if err := b.add(rows...); err != nil {
			return err
		}
		if best*tileSlack >= 1 {
			return nil
		}
	}
	best := slices.Index(ratios, slices.Min(ratios))
	return fmt.Errorf("product %dx%dx%d of %s on %s: the tile %s was chosen, %s takes %.2f of its time",
		s.m, s.n, s.k, dtype, isa, tileName(target, tiles[chosen]), tileName(target, tiles[best]), ratios[best])
}

// tileName is rows x columns.
func tileName(isa asm.ISA, t x86.GemmTile) string {
	return fmt.Sprintf("%dx%d", t.Rows, t.Vectors*x86.GemmLanes(isa))
}

// medianRatio is the middle of a round's time by that of another in the same
// round.
func medianRatio(times, others []float64) float64 {
	var all []float64
	for i := range times {
		all = append(all, times[i]/others[i])
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// timeTiles runs a product with each tile in turns, on devices of their own, and
// returns the seconds of a run by tile and round.
func (b *benchRun) timeTiles(ctx context.Context, o operands, isa string, tiles []x86.GemmTile) (_ [][]float64, err error) {
	programs := make([]*sinter.Program, len(tiles))
	defer func() {
		for _, p := range programs {
			if p != nil {
				err = errors.Join(err, p.Close())
			}
		}
	}()
	graph, inputs := sinter.Capture(o.product), map[string]sinter.Tensor{"x": o.input}
	repeat := make([]int, len(tiles))
	run := func(i, times int) (float64, error) {
		start := time.Now()
		for range times {
			out, err := programs[i].Run(ctx, inputs)
			if err != nil {
				return 0, err
			}
			for _, r := range out {
				r.Release()
			}
		}
		return time.Since(start).Seconds() / float64(times), nil
	}
	for i, t := range tiles {
		d, err := b.tileDevice(isa, t)
		if err != nil {
			return nil, err
		}
		if programs[i], err = sinter.Compile(graph, sinter.Options{Device: d}); err != nil {
			return nil, err
		}
		if _, err := run(i, 1); err != nil { // packs the weight
			return nil, err
		}
		once, err := run(i, 1)
		if err != nil {
			return nil, err
		}
		const least = 0.005
		repeat[i] = 1 + int(least/max(once, 1e-6))
	}
	seconds := make([][]float64, len(tiles))
	for range tileRounds {
		for i := range tiles {
			once, err := run(i, repeat[i])
			if err != nil {
				return nil, err
			}
			seconds[i] = append(seconds[i], once)
		}
	}
	return seconds, nil
}

// tileDevice opens a device whose products all have one tile, once.
func (b *benchRun) tileDevice(isa string, tile x86.GemmTile) (*sinter.Device, error) {
	key := deviceKey{fmt.Sprintf("%s %dx%d", isa, tile.Rows, tile.Vectors), b.threads[0]}
	if d := b.devices[key]; d != nil {
		return d, nil
	}
	target, err := cpu.ParseISA(isa)
	if err != nil {
		return nil, err
	}
	dev, err := cpu.New(cpu.Options{ISA: target, Threads: b.threads[0], Tile: tile})
	if err != nil {
		return nil, err
	}
	device.Register(device.Driver{
		Name: tileDriver + key.isa,
		List: func() ([]device.Properties, error) { return []device.Properties{cpu.Describe()}, nil },
		Open: func(int) (device.Device, error) { return dev, nil },
	})
	d, err := sinter.Open(tileDriver + key.isa)
	if err == nil {
		b.devices[key] = d
	}
	return d, err
}
