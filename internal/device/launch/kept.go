package launch

import (
	"crypto/sha256"
	"sync"

	"github.com/sinterml/sinter/internal/diskcache"
)

// Keeper is a Backend whose compiled programs other processes can take up.
type Keeper interface {
	// Identity is all that a compiled program depends on beside its code: the
	// device, by its UUID, the version of its driver, options of the compiler.
	Identity() []string
	// Compiled is what Restore makes the program of again. A driver refuses what
	// is not its own, or of another version; then the code is compiled anew.
	Compiled(p Program) ([]byte, error)
	Restore(c *Code, compiled []byte) (Program, error)
}

// maxKept bounds all programs on disk, in bytes.
const maxKept = 256 << 20

// Programs is where compiled programs are kept for later processes, in the
// user's folder for such files; nil where there is none.
var Programs = sync.OnceValue(func() *diskcache.Cache { return diskcache.Open("programs", maxKept) })

// build takes up a program that was compiled earlier, or compiles it.
func (d *Device) build(c *Code) (Program, error) {
	k, ok := d.backend.(Keeper)
	if !ok || d.Kept == nil {
		return d.backend.Build(c)
	}
	text, binary := sha256.Sum256([]byte(c.Text)), sha256.Sum256(c.Binary)
	key := append([]string{"program", d.Kind, string(text[:]), string(binary[:])}, k.Identity()...)
	if compiled, ok := d.Kept.Get(key...); ok {
		if p, err := k.Restore(c, compiled); err == nil {
			return p, nil
		}
	}
	p, err := d.backend.Build(c)
	if err != nil {
		return nil, err
	}
	if compiled, err := k.Compiled(p); err == nil && len(compiled) > 0 {
		d.Kept.Put(compiled, key...)
	}
	return p, nil
}
