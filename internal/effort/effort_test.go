package effort

import "testing"

func TestNow(t *testing.T) {
	for set, want := range map[string]Level{"": Plain, "SINTER_CI": CI, AsCI: CI} {
		if long {
			want = Long
		}
		if testing.Short() {
			want = Short
		}
		for _, name := range []string{"SINTER_CI", AsCI} {
			t.Setenv(name, map[bool]string{true: "1"}[name == set])
		}
		if got := Now(); got != want {
			t.Errorf("with %q set: level %d, want %d", set, got, want)
		}
		if got := Of(Short, Plain, CI, Long); got != want {
			t.Errorf("with %q set: of the levels %d, want %d", set, got, want)
		}
	}
}
