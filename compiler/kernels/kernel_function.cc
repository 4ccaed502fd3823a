#include "compiler/kernels/kernel_function.h"

namespace yuba::kernels {

namespace LLVM = mlir::LLVM;
using mlir::Value;
using Values = llvm::SmallVector<Value>;

constexpr unsigned kGlobal = 1;  // the address space of a GPU's memory, in all targets of LLVM

KernelFunction::KernelFunction(mlir::ModuleOp module, const NamedKernel& kernel,
                               const KernelTarget& target, bool scratch)
    : b_(module.getContext()),
      s_(b_, module, target),
      module_(module),
      kernel_(kernel),
      target_(*target.facts),
      pointer_(LLVM::LLVMPointerType::get(module.getContext(), target_.parallel ? kGlobal : 0)),
      layout_(kernel),
      scratch_(scratch) {}

Value ThreadNumber(mlir::OpBuilder& builder, const char* name) {
  return builder
      .create<LLVM::CallIntrinsicOp>(
          builder.getUnknownLoc(), builder.getI32Type(),
          builder.getStringAttr(std::string("llvm.nvvm.read.ptx.sreg.") + name), mlir::ValueRange(),
          LLVM::FastmathFlagsAttr())
      .getResult(0);
}

Values LoadPointers(mlir::OpBuilder& builder, mlir::Block& parameters, int buffers,
                    LLVM::LLVMPointerType pointer) {
  const mlir::Location at = builder.getUnknownLoc();
  auto generic = LLVM::LLVMPointerType::get(builder.getContext());
  const auto global = [&](Value address) -> Value {
    return pointer == generic ? address
                              : builder.create<LLVM::AddrSpaceCastOp>(at, pointer, address);
  };
  Values pointers;
  const Value table = global(parameters.getArgument(0));
  for (int i = 0; i < buffers; ++i) {
    const Value place =
        builder.create<LLVM::GEPOp>(at, pointer, generic, table, llvm::ArrayRef<LLVM::GEPArg>{i});
    pointers.push_back(global(builder.create<LLVM::LoadOp>(at, generic, place, 8)));
  }
  pointers.push_back(global(parameters.getArgument(1)));
  return pointers;
}

void KernelFunction::Begin() {
  DeclareLoops(/*section=*/false);
  BuildEntry();
  EnterLoops();
}

void KernelFunction::BeginSection() {
  DeclareLoops(/*section=*/true);
  EnterLoops();
}

void KernelFunction::End() { b_.create<LLVM::ReturnOp>(loc(), mlir::ValueRange()); }

void KernelFunction::DeclareLoops(bool section) {
  b_.setInsertionPointToEnd(module_.getBody());
  std::vector<mlir::Type> inputs(Buffers() + 1, pointer_);
  const int pointers = static_cast<int>(inputs.size());
  if (section && target_.parallel) inputs.push_back(b_.getI32Type());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), inputs);
  loops_ =
      b_.create<LLVM::LLVMFuncOp>(loc(), kernel_.symbol + "_loops", type, LLVM::Linkage::Internal);
  for (int i = 0; i < pointers; ++i) {
    if (!kernel_.may_alias || i >= Tensors())
      loops_.setArgAttr(i, "llvm.noalias", b_.getUnitAttr());
    if (i < layout_.operands || i == Buffers())
      loops_.setArgAttr(i, "llvm.readonly", b_.getUnitAttr());
  }
}

void KernelFunction::EnterLoops() {
  mlir::Block* block = loops_.addEntryBlock(b_);
  b_.setInsertionPointToStart(block);
  for (int i = 0; i <= Buffers(); ++i) pointers_.push_back(block->getArgument(i));
  if (static_cast<int>(block->getNumArguments()) > Buffers() + 1)
    block_ = block->getArgument(Buffers() + 1);
}

Value KernelFunction::Block() { return block_ ? block_ : ThreadNumber(b_, "ctaid.x"); }

// Only parameters can be marked as not aliasing, pointers that are loaded cannot: hence the loops
// are a function of their own, which the entry calls with the pointers it has loaded.
void KernelFunction::BuildEntry() {
  auto generic = LLVM::LLVMPointerType::get(b_.getContext());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), {generic, generic});
  b_.setInsertionPointToEnd(module_.getBody());
  auto entry = b_.create<LLVM::LLVMFuncOp>(loc(), kernel_.symbol, type);
  mlir::Block* block = entry.addEntryBlock(b_);
  b_.setInsertionPointToStart(block);
  b_.create<LLVM::CallOp>(loc(), loops_, LoadPointers(b_, *block, Buffers(), pointer_));
  b_.create<LLVM::ReturnOp>(loc(), mlir::ValueRange());
}

Value KernelFunction::Argument(int slot) {
  if (target_.parallel && !kernel_.known.empty()) {
    const KnownArgument& known = kernel_.known[slot];
    if (known.base < 0) return s_.Int(known.offset);
    if (known.base != slot) return s_.Add(Argument(known.base), s_.Int(known.offset));
  }
  auto [at, inserted] = loaded_.try_emplace(slot);
  if (inserted) {
    mlir::OpBuilder::InsertionGuard guard(b_);
    Value arguments = pointers_.back();
    mlir::Block* block = arguments.getParentBlock();
    if (last_load_ == nullptr)
      b_.setInsertionPointToStart(block);
    else
      b_.setInsertionPointAfter(last_load_);
    Value address = b_.create<LLVM::GEPOp>(loc(), pointer_, b_.getI64Type(), arguments,
                                           llvm::ArrayRef<LLVM::GEPArg>{slot});
    at->second = b_.create<LLVM::LoadOp>(loc(), b_.getI64Type(), address, 8);
    last_load_ = at->second.getDefiningOp();
  }
  return at->second;
}

Value KernelFunction::Pointer(const KernelTensor& tensor) const {
  const bool overwritten = tensor.kind == KernelTensor::kOperand && !kernel_.may_alias &&
                           tensor.number < static_cast<int>(kernel_.overwritten_by.size());
  const int result = overwritten ? kernel_.overwritten_by[tensor.number] : -1;
  return pointers_[result < 0 ? layout_.NumberOf(tensor) : layout_.operands + result];
}

Value KernelFunction::IndexRecord() const {
  return kernel_.checks_indices ? pointers_[Tensors()] : Value();
}

int KernelFunction::PlaceOf(const KernelTensor& tensor) const {
  return tensor.kind == KernelTensor::kInternal ? Tensors() + tensor.number
                                                : layout_.NumberOf(tensor);
}

}  // namespace yuba::kernels
