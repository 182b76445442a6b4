package hiprt

import "fmt"

// Code is what HIP's functions return: 0, or an error.
type Code int32

// Codes that callers tell apart.
const (
	InvalidValue         Code = 1
	OutOfMemory          Code = 2
	NoDevice             Code = 100
	InvalidDevice        Code = 101
	NoBinaryForGPU       Code = 209
	IllegalAddress       Code = 700
	LaunchOutResources   Code = 701
	LaunchTimeOut        Code = 702
	LaunchFailure        Code = 719
	Unknown              Code = 999
	insufficientDriver   Code = 35
	notInitialized       Code = 3
	deinitialized        Code = 4
	illegalState         Code = 401
	eccNotCorrectable    Code = 214
	contextIsDestroyed   Code = 709
	assertion            Code = 710
	invalidConfiguration Code = 9
)

// names are those of hip_runtime_api.h.
var names = map[Code]string{
	InvalidValue: "hipErrorInvalidValue", OutOfMemory: "hipErrorOutOfMemory", notInitialized: "hipErrorNotInitialized", deinitialized: "hipErrorDeinitialized",
	invalidConfiguration: "hipErrorInvalidConfiguration", insufficientDriver: "hipErrorInsufficientDriver", 98: "hipErrorInvalidDeviceFunction",
	NoDevice: "hipErrorNoDevice", InvalidDevice: "hipErrorInvalidDevice", 200: "hipErrorInvalidImage", 201: "hipErrorInvalidContext",
	NoBinaryForGPU: "hipErrorNoBinaryForGpu", eccNotCorrectable: "hipErrorECCNotCorrectable", 218: "hipErrorInvalidKernelFile", 302: "hipErrorSharedObjectSymbolNotFound", 303: "hipErrorSharedObjectInitFailed",
	400: "hipErrorInvalidHandle", illegalState: "hipErrorIllegalState", 500: "hipErrorNotFound", IllegalAddress: "hipErrorIllegalAddress",
	LaunchOutResources: "hipErrorLaunchOutOfResources", LaunchTimeOut: "hipErrorLaunchTimeOut", contextIsDestroyed: "hipErrorContextIsDestroyed",
	assertion: "hipErrorAssert", LaunchFailure: "hipErrorLaunchFailure", 801: "hipErrorNotSupported", Unknown: "hipErrorUnknown",
}

func (c Code) String() string {
	if name, ok := names[c]; ok {
		return name
	}
	return fmt.Sprintf("HIP error %d", int32(c))
}

// Error makes a Code a target of errors.Is.
func (c Code) Error() string { return c.String() }

// CompilerCode is what hiprtc's functions return.
type CompilerCode int32

var compilerNames = []string{
	"HIPRTC_SUCCESS", "HIPRTC_ERROR_OUT_OF_MEMORY", "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE", "HIPRTC_ERROR_INVALID_INPUT",
	"HIPRTC_ERROR_INVALID_PROGRAM", "HIPRTC_ERROR_INVALID_OPTION", "HIPRTC_ERROR_COMPILATION", "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
	"HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION", "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION", "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID", "HIPRTC_ERROR_INTERNAL_ERROR",
}

func (c CompilerCode) Error() string {
	if c >= 0 && int(c) < len(compilerNames) {
		return compilerNames[c]
	}
	return fmt.Sprintf("hiprtc error %d", int32(c))
}

// Error is a call that failed.
type Error struct {
	Call string // "hipMalloc", and what it was about
	Err  error  // a Code or a CompilerCode
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Call, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// OutOfMemory tells whether there would be room if others gave theirs back.
func (e *Error) OutOfMemory() bool { return e.Err == OutOfMemory }

// check is the error of a call that returned c.
func check(c Code, call string) error {
	if c == 0 {
		return nil
	}
	return &Error{call, c}
}

func checkCompiler(c CompilerCode, call string) error {
	if c == 0 {
		return nil
	}
	return &Error{call, c}
}

// lost tells whether the device, or what was started on it, has failed: that is
// what a call says that has nothing to do with it.
func lost(c Code) bool {
	switch c {
	case IllegalAddress, LaunchFailure, LaunchTimeOut, Unknown, eccNotCorrectable, contextIsDestroyed, assertion, illegalState:
		return true
	}
	return false
}

// checkRun is check for a call that may tell what became of an earlier one.
func checkRun(c Code, call string) error {
	if lost(c) {
		return fmt.Errorf("the device failed: %w", &Error{call, c})
	}
	return check(c, call)
}
