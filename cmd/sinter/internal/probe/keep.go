package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sinterml/sinter/internal/atomicfile"
	"github.com/sinterml/sinter/internal/device"
)

// version is that of record. Files of others are asked for again.
const version = 3

// record is what is kept of a kind.
type record struct {
	Version     int
	Time        time.Time
	Program     stamp // sinter itself
	Stamps      []stamp
	Environment []string
	Failed      bool // in part at least
	Results     []Result
}

const (
	// A result is believed for so long: not all that matters can be watched, a
	// GPU in a box of its own for one.
	lifetime = 24 * time.Hour
	// What failed may have been a bad moment.
	failedLifetime = time.Hour
	maxFile        = 1 << 20
	maxStamps      = 1 << 10
)

// stamp is a file or folder as it was. Size and time are 0 for none.
type stamp struct {
	Path string
	Size int64 `json:",omitempty"`
	Time int64 `json:",omitempty"` // of its last change, nanoseconds
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{Path: path}
	}
	return stamp{path, info.Size(), info.ModTime().UnixNano()}
}

func stampsOf(paths []string) []stamp {
	var all []stamp
	for _, p := range paths[:min(len(paths), maxStamps)] {
		all = append(all, stampOf(p))
	}
	return all
}

func program() stamp {
	path, err := os.Executable()
	if err != nil {
		return stamp{}
	}
	return stampOf(path)
}

func environment(d device.Driver) []string {
	var all []string
	for _, name := range d.Environment {
		if v, ok := os.LookupEnv(name); ok {
			all = append(all, name+"="+v)
		}
	}
	return all
}

// holds tells whether what is kept is still so.
func (r *record) holds(d device.Driver) bool {
	age := time.Since(r.Time)
	switch {
	case r.Version != version || r.Program != program():
		return false
	case age < 0 || age > lifetime || r.Failed && age > failedLifetime:
		return false
	case !slices.Equal(r.Environment, environment(d)) || len(r.Results) == 0:
		return false
	}
	for _, w := range d.Watch {
		if !slices.ContainsFunc(r.Stamps, func(s stamp) bool { return s.Path == w }) {
			return false
		}
	}
	for _, s := range r.Stamps {
		if stampOf(s.Path) != s {
			return false
		}
	}
	for _, e := range r.Results {
		if e.Kind != d.Name || e.Name == "" {
			return false
		}
	}
	return true
}

// name is that of what is kept of a kind: another for each value of the variables
// that its drivers obey, as these change what there is.
func name(d device.Driver) string {
	env := environment(d)
	if len(env) == 0 {
		return d.Name
	}
	sum := sha256.Sum256([]byte(strings.Join(env, "\x00")))
	return d.Name + "-" + hex.EncodeToString(sum[:4])
}

func (p *Prober) file(d device.Driver) string { return filepath.Join(p.Dir, name(d)+".json") }

// load reads what is kept. A file that is damaged, too long, of another version
// or out of date is none.
func (p *Prober) load(d device.Driver) ([]Result, bool) {
	if p.Memory != nil {
		if r, ok := p.Memory.Load(name(d)); ok && r.(*record).holds(d) {
			return slices.Clone(r.(*record).Results), true
		}
	}
	if p.Dir == "" {
		return nil, false
	}
	info, err := os.Stat(p.file(d))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, false
	}
	data, err := os.ReadFile(p.file(d))
	var r record
	if err != nil || json.Unmarshal(data, &r) != nil || !r.holds(d) {
		return nil, false
	}
	return r.Results, true
}

// save keeps results. Where that cannot be done drivers are asked again.
func (p *Prober) save(d device.Driver, r record) {
	r.Version, r.Program = version, program()
	if p.Memory != nil {
		p.Memory.Store(name(d), &r)
	}
	data, err := json.Marshal(r)
	if p.Dir == "" || err != nil || len(data) > maxFile || os.MkdirAll(p.Dir, 0o700) != nil {
		return
	}
	f, err := atomicfile.Create(nil, p.file(d), 0o600)
	if err != nil {
		return
	}
	if _, err := f.Write(data); err != nil {
		f.Discard()
		return
	}
	_ = f.Commit()
}
