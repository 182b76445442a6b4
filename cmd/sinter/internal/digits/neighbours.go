package digits

// Neighbours is the share of rows whose nearest row outside their own part, by
// the distance of pixels, has the same digit: what can be had without training.
func Neighbours(s *Set, f Folds) float64 {
	right := 0
	for i, m := range s.Images {
		nearest, best := -1, float32(0)
		for j := range s.Images {
			if f.Of[i] == f.Of[j] {
				continue
			}
			if d := distance(&m, &s.Images[j]); nearest < 0 || d < best {
				nearest, best = j, d
			}
		}
		if nearest >= 0 && s.Labels[nearest] == s.Labels[i] {
			right++
		}
	}
	return float64(right) / float64(s.Len())
}

// distance is squared. Sums of squares of sixteenths are exact.
func distance(a, b *Image) float32 {
	sum := float32(0)
	for i := range a {
		d := a[i] - b[i]
		sum += d * d
	}
	return sum
}
