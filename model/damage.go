package model

import "github.com/sinterml/sinter/safetensors"

// damage answers what may have become of a model's weights.
type damage []*weightFiles

// Intact gives an error once a file of the weights has been truncated or written
// to, and from then on: what was computed since may be wrong, and values may be
// kept. What was computed before a nil Intact is not wrong.
func (e *Encoder) Intact() error { return e.damage().intact() }

// Fault explains errors of programs made with the model's weights: where err is
// of weights that cannot be read any more, the result also names file and
// tensor. Other errors come back as they are.
func (e *Encoder) Fault(err error) error { return e.damage().fault(err) }

// CheckFinite gives an error that names the first tensor with an element that
// is not a number, or is infinite. It reads all weights: call it when results
// are no numbers, to find out why.
func (e *Encoder) CheckFinite() error { return e.damage().checkFinite() }

func (e *Encoder) damage() damage {
	if e == nil {
		return nil
	}
	return e.files
}

// Intact is Encoder.Intact for a cross-encoder.
func (c *CrossEncoder) Intact() error { return c.damage().intact() }

// Fault is Encoder.Fault for a cross-encoder.
func (c *CrossEncoder) Fault(err error) error { return c.damage().fault(err) }

// CheckFinite is Encoder.CheckFinite for a cross-encoder.
func (c *CrossEncoder) CheckFinite() error { return c.damage().checkFinite() }

func (c *CrossEncoder) damage() damage {
	if c == nil || c.files == nil {
		return nil
	}
	return damage{c.files}
}

func (d damage) intact() error {
	return d.each((*safetensors.File).Intact)
}

func (d damage) checkFinite() error {
	return d.each((*safetensors.File).CheckFinite)
}

func (d damage) fault(err error) error {
	_ = d.each(func(f *safetensors.File) error {
		err = f.Fault(err)
		return nil
	})
	return err
}

// each calls f for the files, up to the first error.
func (d damage) each(f func(*safetensors.File) error) error {
	for _, w := range d {
		for _, part := range w.parts {
			if err := f(part); err != nil {
				return err
			}
		}
	}
	return nil
}
