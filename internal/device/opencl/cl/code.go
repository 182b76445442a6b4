package cl

import "fmt"

// Code is what OpenCL's functions return: 0, or below 0 for an error.
type Code int32

// Codes that callers tell apart.
const (
	DeviceNotFound         Code = -1
	DeviceNotAvailable     Code = -2
	MemObjectAllocFailure  Code = -4
	OutOfResources         Code = -5
	OutOfHostMemory        Code = -6
	BuildProgramFailure    Code = -11
	InvalidValue           Code = -30
	InvalidQueueProperties Code = -35
	InvalidCommandQueue    Code = -36
	InvalidBinary          Code = -42
	InvalidBufferSize      Code = -61
	PlatformNotFound       Code = -1001
)

// names are those of cl.h without their prefix CL_.
var names = map[Code]string{
	-1: "DEVICE_NOT_FOUND", -2: "DEVICE_NOT_AVAILABLE", -3: "COMPILER_NOT_AVAILABLE", -4: "MEM_OBJECT_ALLOCATION_FAILURE",
	-5: "OUT_OF_RESOURCES", -6: "OUT_OF_HOST_MEMORY", -7: "PROFILING_INFO_NOT_AVAILABLE", -8: "MEM_COPY_OVERLAP",
	-9: "IMAGE_FORMAT_MISMATCH", -10: "IMAGE_FORMAT_NOT_SUPPORTED", -11: "BUILD_PROGRAM_FAILURE", -12: "MAP_FAILURE",
	-13: "MISALIGNED_SUB_BUFFER_OFFSET", -14: "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", -15: "COMPILE_PROGRAM_FAILURE",
	-16: "LINKER_NOT_AVAILABLE", -17: "LINK_PROGRAM_FAILURE", -18: "DEVICE_PARTITION_FAILED", -19: "KERNEL_ARG_INFO_NOT_AVAILABLE",
	-30: "INVALID_VALUE", -31: "INVALID_DEVICE_TYPE", -32: "INVALID_PLATFORM", -33: "INVALID_DEVICE", -34: "INVALID_CONTEXT",
	-35: "INVALID_QUEUE_PROPERTIES", -36: "INVALID_COMMAND_QUEUE", -37: "INVALID_HOST_PTR", -38: "INVALID_MEM_OBJECT",
	-39: "INVALID_IMAGE_FORMAT_DESCRIPTOR", -40: "INVALID_IMAGE_SIZE", -41: "INVALID_SAMPLER", -42: "INVALID_BINARY",
	-43: "INVALID_BUILD_OPTIONS", -44: "INVALID_PROGRAM", -45: "INVALID_PROGRAM_EXECUTABLE", -46: "INVALID_KERNEL_NAME",
	-47: "INVALID_KERNEL_DEFINITION", -48: "INVALID_KERNEL", -49: "INVALID_ARG_INDEX", -50: "INVALID_ARG_VALUE",
	-51: "INVALID_ARG_SIZE", -52: "INVALID_KERNEL_ARGS", -53: "INVALID_WORK_DIMENSION", -54: "INVALID_WORK_GROUP_SIZE",
	-55: "INVALID_WORK_ITEM_SIZE", -56: "INVALID_GLOBAL_OFFSET", -57: "INVALID_EVENT_WAIT_LIST", -58: "INVALID_EVENT",
	-59: "INVALID_OPERATION", -60: "INVALID_GL_OBJECT", -61: "INVALID_BUFFER_SIZE", -62: "INVALID_MIP_LEVEL",
	-63: "INVALID_GLOBAL_WORK_SIZE", -64: "INVALID_PROPERTY", -65: "INVALID_IMAGE_DESCRIPTOR", -66: "INVALID_COMPILER_OPTIONS",
	-67: "INVALID_LINKER_OPTIONS", -68: "INVALID_DEVICE_PARTITION_COUNT", -69: "INVALID_PIPE_SIZE", -70: "INVALID_DEVICE_QUEUE",
	-71: "INVALID_SPEC_ID", -72: "MAX_SIZE_RESTRICTION_EXCEEDED", -1001: "PLATFORM_NOT_FOUND_KHR",
}

func (c Code) String() string {
	if name, ok := names[c]; ok {
		return "CL_" + name
	}
	return fmt.Sprintf("OpenCL error %d", int32(c))
}

// Error is a call that failed.
type Error struct {
	Call string // "clCreateBuffer", and what it was about
	Code Code
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Call, e.Code) }

// Is makes errors.Is compare with a Code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// Error makes a Code a target of errors.Is.
func (c Code) Error() string { return c.String() }

// OutOfMemory tells whether there would be room if others gave theirs back.
// OutOfResources, which drivers say of a device that failed too, is not that.
func (e *Error) OutOfMemory() bool {
	return e.Code == MemObjectAllocFailure || e.Code == OutOfHostMemory
}

// check is the error of a call that returned c.
func check(c Code, call string) error {
	if c == 0 {
		return nil
	}
	return &Error{Call: call, Code: c}
}
