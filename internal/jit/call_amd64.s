//go:build !simulate

#define TRAMPOLINE ·Call
#include "call_amd64.h"
