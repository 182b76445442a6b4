package main

import (
	"context"
	"strings"
	"testing"
)

func TestForecast(t *testing.T) {
	var out strings.Builder
	found, err := run(context.Background(), &out)
	if err != nil {
		t.Fatal(err)
	}
	if !(found <= 1.15*noise*noise && found >= 0.8*noise*noise) {
		t.Errorf("squared error %v, noise %v\n%s", found, noise*noise, &out)
	}
}
