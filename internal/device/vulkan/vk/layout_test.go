package vk_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device/vulkan/vk"
)

// layouts are the structures under their names in vulkan_core.h. Of those with
// gaps the fields are named that are not in one.
var layouts = []struct {
	name   string
	ours   any
	fields string
}{
	{"VkApplicationInfo", vk.ApplicationInfo{}, ""},
	{"VkInstanceCreateInfo", vk.InstanceCreateInfo{}, ""},
	{"VkValidationFeaturesEXT", vk.ValidationFeatures{}, ""},
	{"VkDebugUtilsMessengerCreateInfoEXT", vk.MessengerCreateInfo{}, ""},
	{"VkExtensionProperties", vk.ExtensionProperties{}, ""},
	{"VkLayerProperties", vk.LayerProperties{}, ""},
	{"VkPhysicalDeviceLimits", vk.Limits{}, "maxPushConstantsSize maxMemoryAllocationCount maxComputeSharedMemorySize maxComputeWorkGroupCount " +
		"maxComputeWorkGroupInvocations maxComputeWorkGroupSize minMemoryMapAlignment minStorageBufferOffsetAlignment timestampPeriod nonCoherentAtomSize"},
	{"VkPhysicalDeviceVulkan11Properties", vk.Properties11{}, "sType pNext deviceUUID driverUUID deviceLUID subgroupSize subgroupSupportedStages " +
		"subgroupSupportedOperations maxMemoryAllocationSize"},
	{"VkPhysicalDeviceVulkan12Properties", vk.Properties12{}, "sType pNext driverID driverName driverInfo conformanceVersion denormBehaviorIndependence shaderSignedZeroInfNanPreserveFloat16"},
	{"VkPhysicalDeviceVulkan13Properties", vk.Properties13{}, "sType pNext minSubgroupSize maxSubgroupSize integerDotProduct4x8BitPackedSignedAccelerated maxBufferSize"},
	{"VkPhysicalDevicePCIBusInfoPropertiesEXT", vk.PCIBusInfo{}, ""},
	{"VkPhysicalDeviceMemoryBudgetPropertiesEXT", vk.MemoryBudget{}, ""},
	{"VkMemoryType", vk.MemoryType{}, ""},
	{"VkMemoryHeap", vk.MemoryHeap{}, ""},
	{"VkPhysicalDeviceVulkan11Features", vk.Features11{}, "sType pNext storageBuffer16BitAccess"},
	{"VkPhysicalDeviceVulkan12Features", vk.Features12{}, "sType pNext samplerMirrorClampToEdge"},
	{"VkPhysicalDeviceVulkan13Features", vk.Features13{}, "sType pNext robustImageAccess"},
	{"VkQueueFamilyProperties", vk.QueueFamily{}, ""},
	{"VkDeviceQueueCreateInfo", vk.DeviceQueueCreateInfo{}, ""},
	{"VkDeviceCreateInfo", vk.DeviceCreateInfo{}, ""},
	{"VkBufferCreateInfo", vk.BufferCreateInfo{}, ""},
	{"VkMemoryRequirements", vk.MemoryRequirements{}, ""},
	{"VkMemoryAllocateInfo", vk.MemoryAllocateInfo{}, ""},
	{"VkMemoryAllocateFlagsInfo", vk.MemoryAllocateFlagsInfo{}, ""},
	{"VkBufferDeviceAddressInfo", vk.BufferDeviceAddressInfo{}, ""},
	{"VkShaderModuleCreateInfo", vk.ShaderModuleCreateInfo{}, ""},
	{"VkPushConstantRange", vk.PushConstantRange{}, ""},
	{"VkPipelineLayoutCreateInfo", vk.PipelineLayoutCreateInfo{}, ""},
	{"VkPipelineShaderStageCreateInfo", vk.ShaderStageCreateInfo{}, ""},
	{"VkComputePipelineCreateInfo", vk.ComputePipelineCreateInfo{}, ""},
	{"VkPipelineCacheCreateInfo", vk.PipelineCacheCreateInfo{}, ""},
	{"VkCommandPoolCreateInfo", vk.CommandPoolCreateInfo{}, ""},
	{"VkCommandBufferAllocateInfo", vk.CommandBufferAllocateInfo{}, ""},
	{"VkCommandBufferBeginInfo", vk.CommandBufferBeginInfo{}, ""},
	{"VkQueryPoolCreateInfo", vk.QueryPoolCreateInfo{}, ""},
	{"VkMemoryBarrier", vk.MemoryBarrier{}, ""},
	{"VkBufferCopy", vk.BufferCopy{}, ""},
	{"VkSemaphoreTypeCreateInfo", vk.SemaphoreTypeCreateInfo{}, ""},
	{"VkSemaphoreCreateInfo", vk.SemaphoreCreateInfo{}, ""},
	{"VkTimelineSemaphoreSubmitInfo", vk.TimelineSemaphoreSubmitInfo{}, ""},
	{"VkSubmitInfo", vk.SubmitInfo{}, ""},
	{"VkSemaphoreWaitInfo", vk.SemaphoreWaitInfo{}, ""},
}

// TestLayout compares structures with what a C compiler makes of the header:
// testdata/layout.txt has the sizes and the offsets of fields.
func TestLayout(t *testing.T) {
	text, err := os.ReadFile("testdata/layout.txt")
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		theirs[words[0]] = words[1:]
	}
	for _, l := range layouts {
		words, typ := theirs[l.name], reflect.TypeOf(l.ours)
		if len(words) == 0 || words[0] != fmt.Sprint(typ.Size()) {
			t.Errorf("%s has %v bytes, not %d", l.name, words, typ.Size())
			continue
		}
		var want []string
		for _, w := range words[1:] {
			name, offset, _ := strings.Cut(w, ":")
			if l.fields == "" || strings.Contains(" "+l.fields+" ", " "+name+" ") {
				want = append(want, offset)
			}
		}
		var got []string
		for _, f := range reflect.VisibleFields(typ) {
			if f.Name == "_" || f.Anonymous {
				continue
			}
			offset := f.Offset
			if len(f.Index) > 1 { // of the header
				offset = typ.Field(0).Type.Field(f.Index[1]).Offset
			}
			got = append(got, fmt.Sprint(offset))
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: fields at %v, not %v", l.name, got, want)
		}
	}
	// These hold a structure of the header without its own name here.
	for name, want := range map[string]uintptr{
		"VkPhysicalDeviceProperties2": reflect.TypeFor[vk.Properties2]().Size(), "VkPhysicalDeviceMemoryProperties2": reflect.TypeFor[vk.MemoryProperties2]().Size(),
		"VkPhysicalDeviceFeatures2": reflect.TypeFor[vk.Features2]().Size(),
	} {
		if theirs[name][0] != fmt.Sprint(want) {
			t.Errorf("%s has %s bytes, not %d", name, theirs[name][0], want)
		}
	}
}
