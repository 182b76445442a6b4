package device

import "time"

const (
	// StartTime is what finding and opening the driver of a GPU takes at least.
	StartTime = 100 * time.Millisecond
	// LaunchTime is what a run on a GPU that is open takes at least, with its
	// copies.
	LaunchTime = 100 * time.Microsecond
	// slowest is how much any processor does in a second, of multiply-adds and
	// elements.
	slowest = 2e9
)

// Short tells whether any processor ends so much work, in multiply-adds and
// elements, within a time.
func Short(work float64, limit time.Duration) bool { return work/slowest <= limit.Seconds() }

// Ranked are the devices that "auto" may stand for, the preferred first. Software
// is not among them, nor are kinds that are opened by name alone.
func Ranked(all []Entry) []Entry {
	var ranked []Entry
	for _, i := range all {
		if i.Reason == "" && !i.Software && rank(i.Kind) < len(kinds) {
			ranked = append(ranked, i)
		}
	}
	return ranked
}

// Best is the name of the device to use where none is asked for and none was
// timed: the first that may be.
func Best(all []Entry) string {
	for _, i := range Ranked(all) {
		return i.Name
	}
	return "cpu"
}
