package effort

import "testing"

func TestNow(t *testing.T) {
	for set, want := range map[string]struct{ now, cases Level }{"": {Plain, Plain}, "SINTER_CI": {CI, CI}, AsCI: {Plain, CI}} {
		if long {
			want.now, want.cases = Long, Long
		}
		if testing.Short() {
			want.now, want.cases = Short, Short
		}
		for _, name := range []string{"SINTER_CI", AsCI} {
			t.Setenv(name, map[bool]string{true: "1"}[name == set])
		}
		if got := Now(); got != want.now {
			t.Errorf("with %q set: level %d, want %d", set, got, want.now)
		}
		if got := Of(Short, Plain, CI, Long); got != want.cases || Less() != (want.cases < CI) {
			t.Errorf("with %q set: of the levels %d, want %d; less than CI: %v", set, got, want.cases, Less())
		}
	}
}
