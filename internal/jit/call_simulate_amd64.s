//go:build simulate

#define TRAMPOLINE ·native
#include "call_amd64.h"
