package trial

import (
	"context"
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
)

// Formats are the names of the number formats in which a device has computed a
// product as the referee does, with the same driver and program; nil where it
// has not been asked.
func (m *Memory) Formats(kind string, p device.Properties) []string {
	text, ok := m.Disk.Get(formatsKey(kind, p)...)
	if !ok {
		return nil
	}
	return strings.Fields(string(text))
}

// TryFormats asks it, whatever is remembered. The error is that of ctx, or of a
// device that cannot compile.
func (m *Memory) TryFormats(ctx context.Context, kind string, p device.Properties, d device.Device) ([]string, error) {
	r, ok := d.(suite.Runner)
	if !ok {
		return nil, fmt.Errorf("%T cannot compile", d)
	}
	var good []string
	for _, f := range suite.Formats() {
		if f.Try(ctx, r) == nil {
			good = append(good, f.Name)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.Disk.Put([]byte(strings.Join(good, " ")), formatsKey(kind, p)...)
	return good, nil
}

func formatsKey(kind string, p device.Properties) []string {
	return append([]string{"formats"}, keyOf(kind, p)...)
}
