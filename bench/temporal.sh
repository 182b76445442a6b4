#!/bin/sh
# What sinter train temporal reaches: held-out seeds, then the times of a step
# and of a small batch. It takes about ten minutes on two cores.
set -e
cd "$(dirname "$0")/.."
go test -tags long -run TestStudy -v -timeout 2h ./cmd/sinter/internal/temporal
go test -run xxx -bench . ./cmd/sinter/internal/temporal
for seed in 42 1 2; do
	go run ./cmd/sinter train temporal --objective regression --rows 10000 --threads 1 --seed $seed | tail -3
done
