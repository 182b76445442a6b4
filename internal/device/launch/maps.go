package launch

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/schedule"
)

// bindMaps sets the maps of a kernel's matrices, where their memory is not that
// of the last run: sizes are the session's.
func (s *session) bindMaps(r Recording, f *function, b *boundKernel, k *schedule.Kernel) error {
	if len(b.maps) == 0 {
		return nil
	}
	mapper, ok := r.(Mapper)
	if !ok {
		return fmt.Errorf("%s: kernel %s has maps, which the device does not know", s.module.device.Kind, k.Name)
	}
	for j, a := range f.args {
		switch a.Kind {
		case entry.ArgMap:
			at := s.places[k.Args[a.Param]]
			if at.mem == nil {
				at.mem = s.module.device.nothing
			}
			if b.bound[j] == at.mem {
				continue
			}
			m := b.maps[a.Map]
			m.Offset += at.offset
			there, err := mapper.SetMap(b.launch, j, at.mem, m)
			if err != nil {
				return err
			}
			b.bound[j] = at.mem
			b.mapped &^= 1 << a.Map
			if there {
				b.mapped |= 1 << a.Map
			}
		case entry.ArgMapped:
			if err := r.SetInt(b.launch, j, b.mapped); err != nil {
				return err
			}
		}
	}
	return nil
}
