// The enumerations of program.proto and ours, which have the same numbers: checked here, once.
// A value read from a file is valid before it is converted (validate.h).
#ifndef YUBA_RUNTIME_PROGRAM_ENUMS_H_
#define YUBA_RUNTIME_PROGRAM_ENUMS_H_

#include "opsemantics/base/element_type.h"
#include "opsemantics/base/reducer.h"
#include "opsemantics/machine/machine.h"
#include "runtime/program/program.pb.h"

namespace yuba {

constexpr program::ElementType ToProto(ElementType type) {
  return static_cast<program::ElementType>(type);
}
constexpr ElementType FromProto(program::ElementType type) {
  return static_cast<ElementType>(type);
}

constexpr program::Reducer ToProto(Reducer reducer) {
  return static_cast<program::Reducer>(reducer);
}
constexpr Reducer FromProto(program::Reducer reducer) { return static_cast<Reducer>(reducer); }

constexpr program::KernelClass ToProto(KernelClass kernel_class) {
  return static_cast<program::KernelClass>(kernel_class);
}
constexpr KernelClass FromProto(program::KernelClass kernel_class) {
  return static_cast<KernelClass>(kernel_class);
}

static_assert(ToProto(ElementType::kF64) == program::F64, "");
static_assert(ToProto(ElementType::kF32) == program::F32, "");
static_assert(ToProto(ElementType::kF16) == program::F16, "");
static_assert(ToProto(ElementType::kBF16) == program::BF16, "");
static_assert(ToProto(ElementType::kI64) == program::I64, "");
static_assert(ToProto(ElementType::kI32) == program::I32, "");
static_assert(ToProto(ElementType::kI8) == program::I8, "");
static_assert(ToProto(ElementType::kU8) == program::U8, "");
static_assert(ToProto(ElementType::kBool) == program::BOOL, "");
static_assert(ToProto(ElementType::kI16) == program::I16, "");
static_assert(ToProto(ElementType::kU16) == program::U16, "");
static_assert(ToProto(ElementType::kU32) == program::U32, "");
static_assert(ToProto(ElementType::kU64) == program::U64, "");
static_assert(program::ElementType_ARRAYSIZE == program::U64 + 1, "a type without a twin");

static_assert(ToProto(Reducer::kNone) == program::NONE, "");
static_assert(ToProto(Reducer::kSum) == program::SUM, "");
static_assert(ToProto(Reducer::kProd) == program::PROD, "");
static_assert(ToProto(Reducer::kMax) == program::MAX, "");
static_assert(ToProto(Reducer::kMin) == program::MIN, "");
static_assert(ToProto(Reducer::kAny) == program::ANY, "");
static_assert(ToProto(Reducer::kAll) == program::ALL, "");
static_assert(ToProto(Reducer::kArgMax) == program::ARGMAX, "");
static_assert(ToProto(Reducer::kArgMin) == program::ARGMIN, "");
static_assert(ToProto(Reducer::kPick) == program::PICK, "");
static_assert(ToProto(Reducer::kOpaque) == program::OPAQUE, "");
static_assert(program::Reducer_ARRAYSIZE == program::OPAQUE + 1, "a reducer without a twin");

static_assert(ToProto(KernelClass::kProduct) == program::PRODUCT, "");
static_assert(ToProto(KernelClass::kConvolution) == program::CONVOLUTION, "");
static_assert(ToProto(KernelClass::kMap) == program::MAP, "");
static_assert(ToProto(KernelClass::kReduction) == program::REDUCTION, "");
static_assert(program::KernelClass_ARRAYSIZE == kKernelClasses, "a class without a twin");

}  // namespace yuba

#endif  // YUBA_RUNTIME_PROGRAM_ENUMS_H_
