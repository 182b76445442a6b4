package trial

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
)

// Abilities are what a device was found to do, with a driver and a program.
type Abilities struct {
	Formats []string // number formats in which a product came out as the referee's, by their names for users
	Rules   []string // rules of arithmetic that it keeps, by suite.Rule.ID
}

// Abilities are those that were found; false where the device has not been tried.
func (m *Memory) Abilities(kind string, p device.Properties) (a Abilities, ok bool) {
	text, ok := m.Disk.Get(abilitiesKey(kind, p)...)
	if !ok || json.Unmarshal(text, &a) != nil {
		return Abilities{}, false
	}
	return a, true
}

// Try finds them, whatever is remembered. The error is that of ctx, or of a
// device that cannot compile.
func (m *Memory) Try(ctx context.Context, kind string, p device.Properties, d device.Device) (a Abilities, err error) {
	r, ok := d.(suite.Runner)
	if !ok {
		return a, fmt.Errorf("%T cannot compile", d)
	}
	for _, f := range suite.Formats() {
		if f.Try(ctx, r) == nil {
			a.Formats = append(a.Formats, f.Name)
		}
	}
	for _, rule := range suite.Rules() {
		if rule.Run(ctx, r, device.Options{}) == nil {
			a.Rules = append(a.Rules, rule.ID)
		}
	}
	if err := ctx.Err(); err != nil {
		return Abilities{}, err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return a, err
	}
	m.Disk.Put(text, abilitiesKey(kind, p)...)
	return a, nil
}

func abilitiesKey(kind string, p device.Properties) []string {
	return append([]string{"abilities"}, keyOf(kind, p)...)
}
