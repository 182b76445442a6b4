package cpu

// rowTiles is tiles of rows below each other, which see the same keys: both from
// the block's start.
type rowTiles struct {
	first, panels, rows int
	keyRange
}

// masks tells whether some queries see fewer keys than others.
func (s *attentionStep) masks() bool { return s.work.Attr.Causal || s.work.Attr.Window > 0 }

// placeTiles finds what each row of a block sees of its keys, and cuts the block
// into tiles, whose rows are as even as can be. Those that see different keys
// stand alone.
func (s *attentionStep) placeTiles(w *attentionWorker, k *scoreBlock) {
	n := k.end - k.first
	tiles := ceilDiv(n, s.tiles.Tile.Rows)
	w.tiles = w.tiles[:0]
	k0 := k.kb * keyBlock
	k.whole = s.visible(k.attentionChunk, k.first).to-k0 >= k.to && s.visible(k.attentionChunk, k.end-1).from-k0 <= k.from
	if k.whole {
		for i := range n {
			w.ranges[i] = [2]int64{int64(4 * k.from), int64(4 * k.to)}
		}
		low, more := n/tiles, n%tiles // more tiles have one row more
		if more > 0 {
			w.tiles = append(w.tiles, rowTiles{0, more, low + 1, k.keyRange})
		}
		w.tiles = append(w.tiles, rowTiles{more * (low + 1), tiles - more, low, k.keyRange})
		return
	}
	for i := range n {
		r := s.visible(k.attentionChunk, k.first+i)
		from := min(max(r.from-k0, k.from), k.to)
		to := min(max(r.to-k0, from), k.to)
		w.ranges[i] = [2]int64{int64(4 * from), int64(4 * to)}
	}
	for i := range tiles {
		r0, r1 := n*i/tiles, n*(i+1)/tiles
		seen := keyRange{int(w.ranges[r0][0] / 4), int(w.ranges[r1-1][1] / 4)}
		if seen.from >= seen.to { // the rows' state is begun all the same
			seen = k.keyRange
		}
		w.tiles = append(w.tiles, rowTiles{r0, 1, r1 - r0, seen})
	}
}
