package tokenizer

import "encoding/json"

// normalizerTypes lists the stages that a normalizer may have.
func normalizerTypes() stageTypes[normalizer] {
	return stageTypes[normalizer]{
		"BertNormalizer": parseBertNormalizer,
		"ByteLevel":      normalizerType(byteSpelling{}),
		"Lowercase":      normalizerType(lowercase{}),
		"NFC":            normalizerType(unicodeForm{compose: true}),
		"NFD":            normalizerType(unicodeForm{}),
		"NFKC":           normalizerType(unicodeForm{compose: true, compatible: true}),
		"NFKD":           normalizerType(unicodeForm{compatible: true}),
		"Nmt":            normalizerType(nmt{}),
		"Precompiled":    parsePrecompiled,
		"Prepend":        parsePrepend,
		"Replace":        parseReplaceNormalizer,
		"Sequence":       parseNormalizerSequence,
		"Strip":          parseStrip,
		"StripAccents":   normalizerType(stripAccents{}),
	}
}

// normalizerType is the parser of a normaliser without settings.
func normalizerType(n normalizer) func([]byte) (normalizer, error) {
	return func([]byte) (normalizer, error) { return n, nil }
}

func parseNormalizer(raw []byte) (normalizer, error) {
	n, err := normalizerTypes().parse(raw)
	if err != nil {
		return nil, err
	}
	if growthOf(n) > maxGrowth {
		return nil, errTooMuchGrowth
	}
	return n, nil
}

// grower is a normaliser that may make a text longer than the forms of Unicode
// do.
type grower interface {
	// growth is the most bytes that it makes of a byte.
	growth() int
}

func growthOf(n normalizer) int {
	if g, ok := n.(grower); ok {
		return g.growth()
	}
	return 1
}

// normalizers is a Sequence.
type normalizers []normalizer

func parseNormalizerSequence(raw []byte) (normalizer, error) {
	var file struct {
		Stages []json.RawMessage `json:"normalizers"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	all, err := parseSequence(file.Stages, normalizerTypes(), func(n normalizer) []normalizer {
		if inner, ok := n.(normalizers); ok {
			return inner
		}
		return []normalizer{n}
	})
	return normalizers(all), err
}

func (all normalizers) normalize(m *mapped) {
	for _, n := range all {
		n.normalize(m)
	}
}

func (all normalizers) growth() int {
	product := 1
	for _, n := range all {
		product = min(product*growthOf(n), maxGrowth+1)
	}
	return product
}
