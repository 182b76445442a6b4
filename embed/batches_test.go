package embed

import "testing"

// Batches hold at most the limit and about as many tokens each.
func TestEvenly(t *testing.T) {
	for _, test := range []struct {
		texts, tokens, limit, want int
	}{
		{0, 0, 10, 1}, {3, 0, 10, 1}, {1, 10, 10, 10}, {11, 1, 10, 6}, {20, 1, 10, 10}, {21, 1, 10, 7}, {1, 30, 10, 10},
	} {
		ids := make([][]int32, test.texts)
		for i := range ids {
			ids[i] = make([]int32, test.tokens)
		}
		if got := evenly(ids, test.limit); got != test.want {
			t.Errorf("%d texts of %d tokens in batches of %d: cut at %d, want %d", test.texts, test.tokens, test.limit, got, test.want)
		}
	}
}
