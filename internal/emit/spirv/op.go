package spirv

// opcode is an instruction of SPIR-V.
type opcode uint16

// The instructions that are used here, by their numbers in the specification.
const (
	opName                 opcode = 5
	opExtInstImport        opcode = 11
	opExtInst              opcode = 12
	opMemoryModel          opcode = 14
	opEntryPoint           opcode = 15
	opExecutionMode        opcode = 16
	opCapability           opcode = 17
	opTypeVoid             opcode = 19
	opTypeBool             opcode = 20
	opTypeInt              opcode = 21
	opTypeFloat            opcode = 22
	opTypeVector           opcode = 23
	opTypeArray            opcode = 28
	opTypeRuntimeArray     opcode = 29
	opTypeStruct           opcode = 30
	opTypePointer          opcode = 32
	opTypeFunction         opcode = 33
	opConstantTrue         opcode = 41
	opConstantFalse        opcode = 42
	opConstant             opcode = 43
	opFunction             opcode = 54
	opFunctionEnd          opcode = 56
	opVariable             opcode = 59
	opLoad                 opcode = 61
	opStore                opcode = 62
	opAccessChain          opcode = 65
	opDecorate             opcode = 71
	opMemberDecorate       opcode = 72
	opCompositeConstruct   opcode = 80
	opCompositeExtract     opcode = 81
	opConvertFToU          opcode = 109
	opConvertFToS          opcode = 110
	opConvertSToF          opcode = 111
	opConvertUToF          opcode = 112
	opUConvert             opcode = 113
	opSConvert             opcode = 114
	opFConvert             opcode = 115
	opConvertUToPtr        opcode = 120
	opBitcast              opcode = 124
	opFNegate              opcode = 127
	opIAdd                 opcode = 128
	opFAdd                 opcode = 129
	opISub                 opcode = 130
	opFSub                 opcode = 131
	opIMul                 opcode = 132
	opFMul                 opcode = 133
	opUDiv                 opcode = 134
	opSDiv                 opcode = 135
	opFDiv                 opcode = 136
	opUMod                 opcode = 137
	opSRem                 opcode = 138
	opLogicalNotEqual      opcode = 165
	opLogicalOr            opcode = 166
	opLogicalAnd           opcode = 167
	opSelect               opcode = 169
	opIEqual               opcode = 170
	opINotEqual            opcode = 171
	opULessThan            opcode = 176
	opSLessThan            opcode = 177
	opFOrdEqual            opcode = 180
	opFUnordNotEqual       opcode = 183
	opFOrdLessThan         opcode = 184
	opShiftRightLogical    opcode = 194
	opShiftRightArithmetic opcode = 195
	opShiftLeftLogical     opcode = 196
	opBitwiseOr            opcode = 197
	opBitwiseXor           opcode = 198
	opBitwiseAnd           opcode = 199
	opControlBarrier       opcode = 224
	opPhi                  opcode = 245
	opLoopMerge            opcode = 246
	opSelectionMerge       opcode = 247
	opLabel                opcode = 248
	opBranch               opcode = 249
	opBranchConditional    opcode = 250
	opReturn               opcode = 253
)

// format tells what the words of an instruction are, for the listing: T the type
// of its result, R the result, I an id, N a number, S text, a letter of kinds one
// of its names; what stands behind * is repeated.
type format struct {
	name  string
	words string
}

var formats = map[opcode]format{
	opName:                 {"Name", "IS"},
	opExtInstImport:        {"ExtInstImport", "RS"},
	opExtInst:              {"ExtInst", "TRIg*I"},
	opMemoryModel:          {"MemoryModel", "am"},
	opEntryPoint:           {"EntryPoint", "eIS*I"},
	opExecutionMode:        {"ExecutionMode", "Ix*N"},
	opCapability:           {"Capability", "c"},
	opTypeVoid:             {"TypeVoid", "R"},
	opTypeBool:             {"TypeBool", "R"},
	opTypeInt:              {"TypeInt", "RNN"},
	opTypeFloat:            {"TypeFloat", "RN"},
	opTypeVector:           {"TypeVector", "RIN"},
	opTypeArray:            {"TypeArray", "RII"},
	opTypeRuntimeArray:     {"TypeRuntimeArray", "RI"},
	opTypeStruct:           {"TypeStruct", "R*I"},
	opTypePointer:          {"TypePointer", "RsI"},
	opTypeFunction:         {"TypeFunction", "R*I"},
	opConstantTrue:         {"ConstantTrue", "TR"},
	opConstantFalse:        {"ConstantFalse", "TR"},
	opConstant:             {"Constant", "TRV"},
	opFunction:             {"Function", "TRfI"},
	opFunctionEnd:          {"FunctionEnd", ""},
	opVariable:             {"Variable", "TRs"},
	opLoad:                 {"Load", "TRIM"},
	opStore:                {"Store", "IIM"},
	opAccessChain:          {"AccessChain", "TRI*I"},
	opDecorate:             {"Decorate", "IdB"},
	opMemberDecorate:       {"MemberDecorate", "INd*N"},
	opCompositeConstruct:   {"CompositeConstruct", "TR*I"},
	opCompositeExtract:     {"CompositeExtract", "TRI*N"},
	opConvertFToU:          {"ConvertFToU", "TRI"},
	opConvertFToS:          {"ConvertFToS", "TRI"},
	opConvertSToF:          {"ConvertSToF", "TRI"},
	opConvertUToF:          {"ConvertUToF", "TRI"},
	opUConvert:             {"UConvert", "TRI"},
	opSConvert:             {"SConvert", "TRI"},
	opFConvert:             {"FConvert", "TRI"},
	opConvertUToPtr:        {"ConvertUToPtr", "TRI"},
	opBitcast:              {"Bitcast", "TRI"},
	opFNegate:              {"FNegate", "TRI"},
	opIAdd:                 {"IAdd", "TRII"},
	opFAdd:                 {"FAdd", "TRII"},
	opISub:                 {"ISub", "TRII"},
	opFSub:                 {"FSub", "TRII"},
	opIMul:                 {"IMul", "TRII"},
	opFMul:                 {"FMul", "TRII"},
	opUDiv:                 {"UDiv", "TRII"},
	opSDiv:                 {"SDiv", "TRII"},
	opFDiv:                 {"FDiv", "TRII"},
	opUMod:                 {"UMod", "TRII"},
	opSRem:                 {"SRem", "TRII"},
	opLogicalNotEqual:      {"LogicalNotEqual", "TRII"},
	opLogicalOr:            {"LogicalOr", "TRII"},
	opLogicalAnd:           {"LogicalAnd", "TRII"},
	opSelect:               {"Select", "TRIII"},
	opIEqual:               {"IEqual", "TRII"},
	opINotEqual:            {"INotEqual", "TRII"},
	opULessThan:            {"ULessThan", "TRII"},
	opSLessThan:            {"SLessThan", "TRII"},
	opFOrdEqual:            {"FOrdEqual", "TRII"},
	opFUnordNotEqual:       {"FUnordNotEqual", "TRII"},
	opFOrdLessThan:         {"FOrdLessThan", "TRII"},
	opShiftRightLogical:    {"ShiftRightLogical", "TRII"},
	opShiftRightArithmetic: {"ShiftRightArithmetic", "TRII"},
	opShiftLeftLogical:     {"ShiftLeftLogical", "TRII"},
	opBitwiseOr:            {"BitwiseOr", "TRII"},
	opBitwiseXor:           {"BitwiseXor", "TRII"},
	opBitwiseAnd:           {"BitwiseAnd", "TRII"},
	opControlBarrier:       {"ControlBarrier", "III"},
	opPhi:                  {"Phi", "TR*I"},
	opLoopMerge:            {"LoopMerge", "IIl"},
	opSelectionMerge:       {"SelectionMerge", "Il"},
	opLabel:                {"Label", "R"},
	opBranch:               {"Branch", "I"},
	opBranchConditional:    {"BranchConditional", "III"},
	opReturn:               {"Return", ""},
}

// Numbers of the specification's lists.
const (
	capShader            = 1
	capFloat64           = 10
	capInt64             = 11
	capInt16             = 22
	capInt8              = 39
	capStorage16         = 4433
	capStorage8          = 4448
	capDenormPreserve    = 4464
	capSignedZeroInfNaN  = 4466
	capRoundingModeRTE   = 4467
	capAddresses         = 5347
	modeLocalSize        = 17
	modeDenormPreserve   = 4459
	modeSignedZeroInfNaN = 4461
	modeRoundingModeRTE  = 4462
	addressing64         = 5348
	memoryGLSL           = 1
	compute              = 5

	classInput    = 1
	classShared   = 4
	classFunction = 7
	classPush     = 9
	classBuffer   = 5349

	decorBlock         = 2
	decorStride        = 6
	decorBuiltIn       = 11
	decorCoherent      = 23
	decorNonWritable   = 24
	decorOffset        = 35
	decorNoContraction = 42

	builtInGroup = 26
	builtInItem  = 29 // LocalInvocationIndex

	accessAligned = 2
	loopUnroll    = 1
	loopStays     = 2

	// Operands of OpControlBarrier.
	scopeGroup      = 2
	semanticsShared = 0x8 | 0x100 // AcquireRelease of WorkgroupMemory
	semanticsAll    = semanticsShared | 0x40

	glslRoundEven = 2
	glslTrunc     = 3
	glslFloor     = 8
	glslSqrt      = 31
	glslFma       = 50
)

// kinds are the names of those numbers in a listing.
var kinds = map[rune]map[uint32]string{
	'c': {capShader: "Shader", capFloat64: "Float64", capInt64: "Int64", capInt16: "Int16", capInt8: "Int8", capStorage16: "StorageBuffer16BitAccess",
		capStorage8: "StorageBuffer8BitAccess", capDenormPreserve: "DenormPreserve", capSignedZeroInfNaN: "SignedZeroInfNanPreserve",
		capRoundingModeRTE: "RoundingModeRTE", capAddresses: "PhysicalStorageBufferAddresses"},
	'x': {modeLocalSize: "LocalSize", modeDenormPreserve: "DenormPreserve", modeSignedZeroInfNaN: "SignedZeroInfNanPreserve", modeRoundingModeRTE: "RoundingModeRTE"},
	'a': {addressing64: "PhysicalStorageBuffer64"},
	'm': {memoryGLSL: "GLSL450"},
	'e': {compute: "GLCompute"},
	's': {classInput: "Input", classShared: "Workgroup", classFunction: "Function", classPush: "PushConstant", classBuffer: "PhysicalStorageBuffer"},
	'd': {decorBlock: "Block", decorStride: "ArrayStride", decorBuiltIn: "BuiltIn", decorCoherent: "Coherent", decorNonWritable: "NonWritable", decorOffset: "Offset", decorNoContraction: "NoContraction"},
	'b': {builtInGroup: "WorkgroupId", builtInItem: "LocalInvocationIndex"},
	'f': {0: "None"},
	'l': {0: "None", loopUnroll: "Unroll", loopStays: "DontUnroll"},
	'g': {glslRoundEven: "RoundEven", glslTrunc: "Trunc", glslFloor: "Floor", glslSqrt: "Sqrt", glslFma: "Fma"},
}
