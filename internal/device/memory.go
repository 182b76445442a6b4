package device

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// Sizer is a Module that tells how many bytes a run has beside what is bound:
// what lies between kernels, and what they work in. Others tell nothing.
type Sizer interface {
	RunBytes(env ir.Env) (int64, error)
}

// MemoryKeeper is a device that keeps its memory within a limit, and can give
// back what it holds for later runs. Others have neither.
type MemoryKeeper interface {
	// SetMemoryLimit bounds the bytes in buffers and in what runs hold; 0 is all
	// that there is.
	SetMemoryLimit(n int64)
	// TrimMemory gives back what is held for reuse alone.
	TrimMemory() error
}

// OutOfMemoryError is memory that a device has no room for. What was computed
// before stays, and smaller requests may succeed.
type OutOfMemoryError struct {
	Device string
	Size   int64 // bytes asked for; 0: the driver needed some of its own
	MemStats
	Limit int64 // that was set; 0: none
	Err   error // of the driver or the system; nil where the limit is the reason
}

func (e *OutOfMemoryError) Error() string {
	text := fmt.Sprintf("no room for %s on %s, where %s are in use", bytesText(e.Size), e.Device, bytesText(e.Allocated))
	if e.Size == 0 && e.Err != nil {
		text = fmt.Sprintf("no room on %s for what its driver needs, where %s are in use", e.Device, bytesText(e.Allocated))
	}
	switch {
	case e.Limit > 0 && e.Err == nil:
		return fmt.Sprintf("%s of a limit of %s: use smaller batches, release results that are not needed, or raise the limit", text, bytesText(e.Limit))
	case e.Err != nil:
		return fmt.Sprintf("%s: use smaller batches, or close what is not needed: %v", text, e.Err)
	}
	return text
}

func (e *OutOfMemoryError) Unwrap() error { return e.Err }

func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
