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

void KernelFunction::Begin() {
  LLVM::LLVMFuncOp loops = DeclareLoops();
  BuildEntry(loops);
  mlir::Block* block = loops.addEntryBlock(b_);
  b_.setInsertionPointToStart(block);
  for (mlir::BlockArgument argument : block->getArguments()) pointers_.push_back(argument);
}

void KernelFunction::End() { b_.create<LLVM::ReturnOp>(loc(), mlir::ValueRange()); }

LLVM::LLVMFuncOp KernelFunction::DeclareLoops() {
  b_.setInsertionPointToEnd(module_.getBody());
  std::vector<mlir::Type> inputs(Buffers() + 1, pointer_);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), inputs);
  auto function =
      b_.create<LLVM::LLVMFuncOp>(loc(), kernel_.symbol + "_loops", type, LLVM::Linkage::Internal);
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    if (!kernel_.may_alias || i >= Tensors())
      function.setArgAttr(i, "llvm.noalias", b_.getUnitAttr());
    if (i < layout_.operands || i == Buffers())
      function.setArgAttr(i, "llvm.readonly", b_.getUnitAttr());
  }
  return function;
}

// Only parameters can be marked as not aliasing, pointers that are loaded cannot: hence the loops
// are a function of their own, which the entry calls with the pointers it has loaded.
void KernelFunction::BuildEntry(LLVM::LLVMFuncOp loops) {
  auto generic = LLVM::LLVMPointerType::get(b_.getContext());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), {generic, generic});
  b_.setInsertionPointToEnd(module_.getBody());
  auto entry = b_.create<LLVM::LLVMFuncOp>(loc(), kernel_.symbol, type);
  mlir::Block* block = entry.addEntryBlock(b_);
  b_.setInsertionPointToStart(block);
  auto global = [&](Value pointer) -> Value {
    return pointer_ == generic ? pointer
                               : b_.create<LLVM::AddrSpaceCastOp>(loc(), pointer_, pointer);
  };
  Values pointers;
  Value buffers = global(block->getArgument(0));
  for (int i = 0; i < Buffers(); ++i) {
    Value at =
        b_.create<LLVM::GEPOp>(loc(), pointer_, generic, buffers, llvm::ArrayRef<LLVM::GEPArg>{i});
    pointers.push_back(global(b_.create<LLVM::LoadOp>(loc(), generic, at, 8)));
  }
  pointers.push_back(global(block->getArgument(1)));
  b_.create<LLVM::CallOp>(loc(), loops, pointers);
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
