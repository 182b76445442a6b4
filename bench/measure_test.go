package bench

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{5, 1, 3}, 3}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median %v = %v, want %v", c.values, got, c.want)
		}
	}
}

// rounds makes rounds of one number of threads.
func rounds(counted, other int) []round {
	var all []round
	for i := range counted + other {
		r := round{counts: i < counted, seconds: []float64{2}, bound: []float64{1}}
		if !r.counts {
			r.seconds[0] = 10
		}
		all = append(all, r)
	}
	return all
}

func TestRow(t *testing.T) {
	c := Case{Name: "x", Work: 6, Unit: "GFLOP/s", Flops: 6e9}
	r := c.row(rounds(7, 9), 0)
	if r.Noisy || r.Seconds != 2 || r.Rate != 3 || r.Bound != 6 || r.Share != 0.5 {
		t.Errorf("seven rounds that count: %+v", r)
	}
	if r := c.row(rounds(6, 9), 0); !r.Noisy || r.Seconds != 10 || r.Share != 0.1 {
		t.Errorf("six rounds that count: %+v", r)
	}
}

// The bounds cannot be passed by the loops they are measured with, and are
// within what processors do.
func TestPeakAndStream(t *testing.T) {
	for _, isa := range ISAs() {
		for _, dtype := range []string{"f32", "bf16", "int8"} {
			p, err := NewPeak(isa, dtype)
			if err != nil {
				t.Fatal(err)
			}
			if r := p.Rate(1, 2*time.Millisecond); r < 1e7 || r > 8e12 {
				t.Errorf("%s %s: peak %g operations a second", isa, dtype, r)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := NewPeak("vax", "f32"); err == nil {
		t.Error("a peak for an instruction set that nobody has")
	}
	for _, s := range [][2]int{{1 << 20, 0}, {1 << 20, 1 << 20}, {3 << 20, 100}, {0, 1 << 20}} {
		stream, err := NewStream(s[0], s[1])
		if err != nil {
			t.Fatal(err)
		}
		for threads := 1; threads <= 3; threads++ {
			if r := stream.Rate(threads); r < 1e6 || r > 1e13 {
				t.Errorf("%v: %g bytes a second on %d threads", s, r, threads)
			}
		}
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The loops that copy and fill do so, where they should.
func TestStreamMoves(t *testing.T) {
	s, err := NewStream(2*piece, 3*piece)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	copies, fills := []func(int){s.copyGo}, []func(int){s.fillGo}
	if s.code != nil {
		copies = append(copies, s.by(copyPast))
		fills = append(fills, s.by(fill), s.by(fillPast))
	}
	for n, way := range copies {
		for i := range s.from {
			s.from[i] = byte(i*7 + n)
		}
		way(piece)
		for i, b := range s.to[piece : 2*piece] {
			if b != byte((i+piece)*7+n) {
				t.Fatalf("copy %d: byte %d is %d", n, i, b)
			}
		}
	}
	for n, way := range fills {
		for i := range s.to {
			s.to[i] = byte(i)
		}
		way(2 * piece)
		same := 0
		for i, b := range s.to[2*piece:] {
			if i%256 != 0 && b == byte(i) {
				same++
			}
		}
		if same > piece/128 || s.to[2*piece-1] != 255 {
			t.Fatalf("filling %d: %d bytes are as before", n, same)
		}
	}
}

// A program that only writes is compared with filling, one that reads more than it
// writes with a copy and a read.
func TestStreamParts(t *testing.T) {
	for _, c := range []struct{ read, written, copied, from, to int }{
		{1, 0, 0, piece, 0}, {0, 1, 0, 0, piece}, {2, 2, piece, piece, piece}, {0, 0, piece, piece, piece},
		{piece + 1, piece, piece, 2 * piece, piece}, {1, 5 * piece, 0, 0, 5 * piece}, {piece - 1, 2, 0, piece, 0},
	} {
		s, err := NewStream(c.read, c.written)
		if err != nil {
			t.Fatal(err)
		}
		if s.copied != c.copied || len(s.from) != c.from || len(s.to) != c.to {
			t.Errorf("%d read, %d written: %d copied of %d and %d", c.read, c.written, s.copied, len(s.from), len(s.to))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMeasure(t *testing.T) {
	runs := map[int]int{}
	c := Case{
		Name: "sleep", ISA: Generic, Shape: []int{3}, Work: 1, Unit: "runs/s", Flops: 1, Threads: []int{1, runtime.GOMAXPROCS(0)},
		Run: func(ctx context.Context, threads int) error {
			runs[threads]++
			time.Sleep(time.Millisecond)
			return ctx.Err()
		},
		Accuracy: func(context.Context, int) (float64, error) { return 0.25, nil },
	}
	rows, err := Measure(t.Context(), c, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Seconds < 1e-3 || rows[0].Share <= 0 || rows[0].Share > 1e-3 || rows[1].Accuracy != 0.25 || !rows[0].Noisy || runs[1] < 2 {
		t.Errorf("%+v after %v runs", rows, runs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, c, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// Cases in turns have the same rounds: after the first run of each, none runs
// twice before the other has.
func TestMeasureInTurns(t *testing.T) {
	var order []string
	named := func(name string) Case {
		return Case{Name: name, ISA: Generic, Work: 1, Threads: []int{1}, Run: func(context.Context, int) error {
			order = append(order, name)
			time.Sleep(sampleTime + sampleTime/4) // once a round
			return nil
		}}
	}
	rows, err := MeasureInTurns(t.Context(), 10*time.Second, named("a"), named("b"))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Name != "a" || rows[1].Name != "b" || rows[0].Noisy != rows[1].Noisy {
		t.Errorf("rows %v", rows)
	}
	const warmUp = 6 // three runs of each
	if len(order) < warmUp+2*wantRounds {
		t.Fatalf("runs %v", order)
	}
	for i, name := range order[warmUp:] {
		if want := []string{"a", "b"}[i%2]; name != want {
			t.Fatalf("run %d is of %s, want %s", i, name, want)
		}
	}
}
