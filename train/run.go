package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sinterml/sinter"
)

// position is where a run is: all that decides what comes next, beside the
// variables.
type position struct {
	Step  int // updates done
	Epoch int // that is going on
	Batch int // batches of it that are done
	Total int // batches of all epochs

	// Of the step that is going on, where gradients are averaged, and of the epoch.
	StepLoss, EpochLoss float64 // sums of what is finite
	Overflow            bool    // a loss of the step was not: its scale was too large
	EpochSteps          int     // that EpochLoss has

	// Due tells that the evaluation of this step is still to be made.
	Due     bool
	Stopped bool
}

// run is one call of Run.
type run struct {
	o         Options
	at        position
	stepper   *stepper
	evaluator *Evaluator
	stop      stopper
	result    Result
	scored    int // the step that result.Scores is of; -1: none
	start     time.Time
	steps     int     // done by this call
	saved     int     // Total of the last checkpoint; -1: none
	used      float64 // the learning rate of the last step
	moved     bool    // something else than Total has changed since
	unheard   bool    // Report failed
	unlock    func()  // gives the folder of checkpoints free; nil: it is not held
}

// Run trains until the steps or epochs are done, EarlyStop says so, ctx is
// done, or something fails. A step that has begun is brought to its end. The
// result is also there beside an error, once the programs were compiled.
func Run(ctx context.Context, o Options) (*Result, error) {
	if ctx == nil {
		return nil, errors.New("train: the context is nil: use context.Background()")
	}
	r := &run{o: o, start: time.Now(), scored: -1, saved: -1}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if d := o.Compile.Device; d != nil {
		ctx = sinter.WithDevice(ctx, d)
	}
	if err := r.prepare(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	defer r.close()
	r.result.Compile, r.result.Loss = time.Since(r.start), math.NaN()
	if err := r.resume(ctx); err != nil {
		var fault *CheckpointError
		if !errors.As(err, &fault) { // which says so itself
			err = fmt.Errorf("train: %w", err)
		}
		return &r.result, err
	}
	err := r.epochs(ctx)
	if err == nil || r.unheard || ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		if e := r.save(ctx); e != nil {
			err = e // more than that the run was asked to end, or that nobody hears
		}
	}
	if err == nil {
		err = r.finish(ctx)
	}
	r.result.Step, r.result.Epoch, r.result.Stopped, r.result.BestStep = r.at.Step, r.at.Epoch, r.at.Stopped, r.stop.Step
	return &r.result, err
}

func (r *run) prepare() (err error) {
	if r.stop.keep, err = variables(r.o.Net); err != nil {
		return err
	}
	r.stop.rule = r.o.EarlyStop
	if r.stepper, err = newStepper(r.o); err != nil {
		return err
	}
	if r.o.Evaluate.Metrics != nil {
		if r.evaluator, err = NewEvaluator(r.o.Evaluate.Metrics(), r.o.Compile); err != nil {
			_ = r.stepper.close() // it has run nothing
			return err
		}
	}
	if err := r.checkWatched(); err != nil {
		r.close()
		return err
	}
	return nil
}

// checkWatched makes sure, before hours of steps, that the evaluation has what
// EarlyStop and Plateau look at.
func (r *run) checkWatched() error {
	for _, w := range []struct {
		on         bool
		by, metric string
	}{{r.o.EarlyStop.Metric != "", "EarlyStop watches", r.o.EarlyStop.Metric}, {r.o.Plateau.Rule != nil, "the Plateau observes", r.o.Plateau.Metric}} {
		if w.on && !slices.ContainsFunc(r.evaluator.metrics, func(m Metric) bool { return m.Name == w.metric }) {
			return fmt.Errorf("%s %q, which the evaluation does not have", w.by, w.metric)
		}
	}
	return nil
}

func (r *run) close() {
	_ = r.stepper.close() // nothing runs any more
	if r.evaluator != nil {
		_ = r.evaluator.Close()
	}
	if r.unlock != nil {
		r.unlock()
	}
}

// done tells whether the run is at its end.
func (r *run) done() bool {
	return r.at.Stopped || r.o.Steps > 0 && r.at.Step >= r.o.Steps || r.o.Epochs > 0 && r.at.Epoch >= r.o.Epochs
}

func (r *run) epochs(ctx context.Context) error {
	if r.at.Due {
		if _, err := r.evaluate(ctx); err != nil {
			return err
		}
	}
	// The last step may be the last of an epoch, which then ends too; a run that
	// was killed between the two still has that before it.
	for begun := r.at.Batch > 0; begun || !r.done(); begun = false {
		if err := r.epoch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// epoch goes through the rest of the epoch that is going on.
func (r *run) epoch(ctx context.Context) error {
	last := time.Now()
	for batch, err := range r.o.Data.Epoch(r.o.Seed, r.at.Epoch, r.at.Batch) {
		if r.done() {
			return nil // within the epoch
		}
		if e := ctx.Err(); e != nil {
			return e
		}
		if err != nil {
			return fmt.Errorf("train: reading batch %d of epoch %d: %w", r.at.Batch, r.at.Epoch, err)
		}
		updated, values, err := r.batch(ctx, batch)
		if err != nil {
			return err
		}
		if r.steps == 0 {
			r.result.First += time.Since(last)
		} else {
			r.result.Train += time.Since(last)
		}
		if updated {
			r.steps++
			if err := r.after(ctx, values); err != nil {
				return err
			}
		}
		last = time.Now()
	}
	if e := ctx.Err(); e != nil {
		return e
	}
	if r.at.Batch == 0 {
		return fmt.Errorf("train: epoch %d has no batches", r.at.Epoch)
	}
	return r.endEpoch(ctx)
}

// batch does one batch, and tells whether it ended with an update.
func (r *run) batch(ctx context.Context, b Batch) (updated bool, values []float64, err error) {
	averaged := r.o.Optimizer.Averaged()
	update := (r.at.Total+1)%averaged == 0
	// A step that is half done cannot be gone on from: it runs to its end.
	r.used = r.rate(r.at.Step)
	values, err = r.stepper.run(context.WithoutCancel(ctx), b, update, r.used, seedAt(r.o.Seed, r.at.Total))
	if err != nil {
		return false, nil, fmt.Errorf("train: step %d: %w", r.at.Step, err)
	}
	if err := r.checkFinite(ctx, values); err != nil {
		return false, nil, err
	}
	r.at.Batch++
	r.at.Total++
	if finite := values[0]-values[0] == 0; finite {
		r.at.StepLoss += values[0] / float64(averaged)
	} else {
		r.at.Overflow = true
	}
	if !update {
		return false, nil, nil
	}
	r.at.Step++
	if r.at.Overflow {
		values[0] = math.NaN()
	} else {
		values[0] = r.at.StepLoss
		r.at.EpochLoss += values[0]
		r.at.EpochSteps++
	}
	r.at.StepLoss, r.at.Overflow = 0, false
	return true, values, nil
}

// after does what is due behind a step: evaluation, checkpoint and report.
func (r *run) after(ctx context.Context, values []float64) error {
	r.result.Loss = values[0]
	e := Event{Step: r.at.Step, Epoch: r.at.Epoch, Loss: values[0], Rate: r.used}
	var err error
	if every := r.o.Evaluate.Every; r.evaluator != nil && every > 0 && r.at.Step%every == 0 {
		r.at.Due = true
		if e.Scores, err = r.evaluate(ctx); err != nil {
			return err
		}
	}
	if every := r.o.Checkpoints.Every; every > 0 && r.at.Step%every == 0 {
		if err := r.save(ctx); err != nil {
			return err
		}
	}
	if r.o.Report == nil {
		return nil
	}
	e.Metrics, e.Elapsed = map[string]float64{}, time.Since(r.start)
	for i, name := range r.stepper.names {
		e.Metrics[name] = values[firstMetric+i]
	}
	return r.report(e)
}

// report tells of an event that is behind the run.
func (r *run) report(e Event) error {
	err := r.o.Report(e)
	r.unheard = err != nil
	return err
}

// endEpoch goes on to the next epoch, with what is due between.
func (r *run) endEpoch(ctx context.Context) error {
	e := Event{Step: r.at.Step, Epoch: r.at.Epoch, EpochEnd: true, Loss: r.at.EpochLoss / float64(r.at.EpochSteps), Rate: r.used}
	var err error
	// An evaluation that is interrupted is made again by who goes on from here.
	if r.evaluator != nil && r.o.Evaluate.Every == 0 {
		if e.Scores, err = r.evaluate(ctx); err != nil {
			return err
		}
	}
	r.at.Epoch++
	r.at.Batch, r.at.EpochLoss, r.at.EpochSteps, r.moved = 0, 0, 0, true
	if r.o.Report == nil {
		return nil
	}
	e.Elapsed = time.Since(r.start)
	return r.report(e)
}

// evaluate measures the net, and hears whether to stop.
func (r *run) evaluate(ctx context.Context) (*Scores, error) {
	scores, err := r.evaluator.Run(ctx, r.o.Evaluate.Data)
	if err != nil {
		return nil, err
	}
	r.result.Scores, r.scored = scores, r.at.Step
	r.moved, r.at.Due = true, false
	if err := r.observe(scores); err != nil {
		return nil, err
	}
	// What has been heard once is not to be heard again by who goes on from here.
	stop, err := r.stop.observe(context.WithoutCancel(ctx), r.at.Step, scores)
	r.at.Stopped = r.at.Stopped || stop
	return scores, err
}

// observe tells the plateau of an evaluation.
func (r *run) observe(scores *Scores) error {
	p := r.o.Plateau
	if p.Rule == nil {
		return nil
	}
	v, _ := scores.Value(p.Metric)
	if p.Larger {
		v = -v
	}
	p.Rule.Observe(v)
	return nil
}

// rate is the learning rate of a step.
func (r *run) rate(step int) float64 {
	rate := r.o.Schedule(step)
	if p := r.o.Plateau.Rule; p != nil {
		rate *= p.Rate
	}
	return rate
}

// finish goes back to the best net where that was asked for, and measures the
// net as it is.
func (r *run) finish(ctx context.Context) error {
	now := r.at.Step
	if r.stop.best != nil && r.stop.Step != now {
		if err := r.stop.goBack(ctx); err != nil {
			return err
		}
		r.scored = -1
	}
	if r.evaluator == nil || r.scored == now {
		return nil
	}
	scores, err := r.evaluator.Run(ctx, r.o.Evaluate.Data)
	r.result.Scores = scores
	return err
}

// seedAt mixes the seed of a run with the number of a batch, so that no two
// draw alike: the finish of splitmix64.
func seedAt(seed int64, batch int) int64 {
	x := uint64(seed)*0x9e3779b97f4a7c15 + uint64(batch)*0xd1342543de82ef95
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int64(x ^ x>>31)
}
