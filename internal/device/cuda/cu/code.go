package cu

import "fmt"

// Code is what CUDA's functions return: 0, or an error.
type Code int32

// Codes that callers tell apart.
const (
	InvalidValue          Code = 1
	OutOfMemory           Code = 2
	Deinitialized         Code = 4
	StubLibrary           Code = 34
	DeviceUnavailable     Code = 46
	NoDevice              Code = 100
	InvalidContext        Code = 201
	NoBinaryForGPU        Code = 209
	UncorrectableECC      Code = 214
	InvalidPTX            Code = 218
	UncorrectableNVLink   Code = 220
	NoJITCompiler         Code = 221
	UnsupportedPTXVersion Code = 222
	Contained             Code = 226
	OperatingSystem       Code = 304
	InvalidHandle         Code = 400
	NotFound              Code = 500
	NotReady              Code = 600
	IllegalAddress        Code = 700
	LaunchOutOfResources  Code = 701
	LaunchTimeout         Code = 702
	ContextIsDestroyed    Code = 709
	LaunchFailed          Code = 719
	NotPermitted          Code = 800
	NotSupported          Code = 801
	SystemNotReady        Code = 802
	SystemDriverMismatch  Code = 803
	CompatNotSupported    Code = 804
	MPSConnectionFailed   Code = 805
	Unknown               Code = 999
)

// names are those of cuda.h without their prefix CUDA_ERROR_.
var names = map[Code]string{
	1: "INVALID_VALUE", 2: "OUT_OF_MEMORY", 3: "NOT_INITIALIZED", 4: "DEINITIALIZED", 34: "STUB_LIBRARY", 46: "DEVICE_UNAVAILABLE",
	100: "NO_DEVICE", 101: "INVALID_DEVICE", 102: "DEVICE_NOT_LICENSED",
	200: "INVALID_IMAGE", 201: "INVALID_CONTEXT", 205: "MAP_FAILED", 206: "UNMAP_FAILED", 208: "ALREADY_MAPPED", 209: "NO_BINARY_FOR_GPU",
	211: "NOT_MAPPED", 214: "ECC_UNCORRECTABLE", 215: "UNSUPPORTED_LIMIT", 216: "CONTEXT_ALREADY_IN_USE", 217: "PEER_ACCESS_UNSUPPORTED",
	218: "INVALID_PTX", 220: "NVLINK_UNCORRECTABLE", 221: "JIT_COMPILER_NOT_FOUND", 222: "UNSUPPORTED_PTX_VERSION",
	223: "JIT_COMPILATION_DISABLED", 224: "UNSUPPORTED_EXEC_AFFINITY", 225: "UNSUPPORTED_DEVSIDE_SYNC", 226: "CONTAINED",
	300: "INVALID_SOURCE", 301: "FILE_NOT_FOUND", 302: "SHARED_OBJECT_SYMBOL_NOT_FOUND", 303: "SHARED_OBJECT_INIT_FAILED", 304: "OPERATING_SYSTEM",
	400: "INVALID_HANDLE", 401: "ILLEGAL_STATE", 402: "LOSSY_QUERY", 500: "NOT_FOUND", 600: "NOT_READY",
	700: "ILLEGAL_ADDRESS", 701: "LAUNCH_OUT_OF_RESOURCES", 702: "LAUNCH_TIMEOUT", 704: "PEER_ACCESS_ALREADY_ENABLED", 705: "PEER_ACCESS_NOT_ENABLED",
	708: "PRIMARY_CONTEXT_ACTIVE", 709: "CONTEXT_IS_DESTROYED", 710: "ASSERT", 711: "TOO_MANY_PEERS", 712: "HOST_MEMORY_ALREADY_REGISTERED",
	713: "HOST_MEMORY_NOT_REGISTERED", 714: "HARDWARE_STACK_ERROR", 715: "ILLEGAL_INSTRUCTION", 716: "MISALIGNED_ADDRESS",
	717: "INVALID_ADDRESS_SPACE", 718: "INVALID_PC", 719: "LAUNCH_FAILED", 720: "COOPERATIVE_LAUNCH_TOO_LARGE", 721: "TENSOR_MEMORY_LEAK",
	800: "NOT_PERMITTED", 801: "NOT_SUPPORTED", 802: "SYSTEM_NOT_READY", 803: "SYSTEM_DRIVER_MISMATCH", 804: "COMPAT_NOT_SUPPORTED_ON_DEVICE",
	805: "MPS_CONNECTION_FAILED", 806: "MPS_RPC_FAILURE", 807: "MPS_SERVER_NOT_READY", 808: "MPS_MAX_CLIENTS_REACHED",
	809: "MPS_MAX_CONNECTIONS_REACHED", 810: "MPS_CLIENT_TERMINATED",
	900: "STREAM_CAPTURE_UNSUPPORTED", 901: "STREAM_CAPTURE_INVALIDATED", 904: "STREAM_CAPTURE_UNJOINED", 906: "STREAM_CAPTURE_IMPLICIT",
	907: "CAPTURED_EVENT", 908: "STREAM_CAPTURE_WRONG_THREAD", 909: "TIMEOUT", 910: "GRAPH_EXEC_UPDATE_FAILURE", 911: "EXTERNAL_DEVICE",
	912: "INVALID_CLUSTER_SIZE", 913: "FUNCTION_NOT_LOADED", 914: "INVALID_RESOURCE_TYPE", 915: "INVALID_RESOURCE_CONFIGURATION", 999: "UNKNOWN",
}

// sticky are the errors after which a context is of no more use: whatever is
// called returns them again.
var sticky = map[Code]bool{
	Deinitialized: true, UncorrectableECC: true, UncorrectableNVLink: true, Contained: true, IllegalAddress: true, LaunchTimeout: true,
	ContextIsDestroyed: true, 710: true, 714: true, 715: true, 716: true, 717: true, 718: true, LaunchFailed: true, 721: true,
	806: true, 810: true, 911: true, Unknown: true,
}

func (c Code) String() string {
	if name, ok := names[c]; ok {
		return "CUDA_ERROR_" + name
	}
	return fmt.Sprintf("CUDA error %d", int32(c))
}

// Error makes a Code a target of errors.Is.
func (c Code) Error() string { return c.String() }

// Error is a call that failed.
type Error struct {
	Call string // "cuMemAlloc", and what it was about
	Code Code
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Call, e.Code) }

// Is makes errors.Is compare with a Code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// OutOfMemory tells whether there would be room if others gave theirs back.
func (e *Error) OutOfMemory() bool { return e.Code == OutOfMemory }

// check is the error of a call that returned c and was not about a context.
func check(c Code, call string) error {
	if c == 0 {
		return nil
	}
	return &Error{Call: call, Code: c}
}
