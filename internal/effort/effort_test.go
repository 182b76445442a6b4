package effort

import "testing"

func TestNow(t *testing.T) {
	for value, want := range map[string]Level{"": Plain, "1": CI} {
		if long {
			want = Long
		}
		if testing.Short() {
			want = Short
		}
		t.Setenv("SINTER_CI", value)
		if got := Now(); got != want {
			t.Errorf("SINTER_CI=%q: level %d, want %d", value, got, want)
		}
		if got := Of(Short, Plain, CI, Long); got != want {
			t.Errorf("SINTER_CI=%q: of the levels %d, want %d", value, got, want)
		}
	}
}
