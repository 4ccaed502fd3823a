#include "compiler/kernels/loop_builder.h"

#include "compiler/kernels/kernel_builder.h"

namespace yuba::kernels {

void KernelBuilder::Build() {
  LLVM::LLVMFuncOp loops = DeclareLoops();
  BuildEntry(loops);
  mlir::Block* block = loops.addEntryBlock(b_);
  b_.setInsertionPointToStart(block);
  for (mlir::BlockArgument argument : block->getArguments()) pointers_.push_back(argument);
  arguments_ = pointers_.back();
  LoadRanges();
  AddAccesses();
  accumulator_type_ = IsArgReducer(definition_.reducer) ? definition_.result.type
                                                        : AccumulatorType(definition_.result.type);
  tiled_ = plan_.mode == LoopPlan::kRow &&
           s_.StoredType(accumulator_type_) != s_.StoredType(definition_.result.type);
  if (tiled_) AllocateTile();
  BuildLoops();
  b_.create<LLVM::ReturnOp>(loc(), mlir::ValueRange());
}

const TensorType& KernelBuilder::Buffer(int buffer) const {
  return buffer == ResultBuffer() ? definition_.result : definition_.operands[buffer];
}

bool KernelBuilder::IsArg() const { return IsArgReducer(definition_.reducer); }

LLVM::LLVMFuncOp KernelBuilder::DeclareLoops() {
  b_.setInsertionPointToEnd(module_.getBody());
  std::vector<mlir::Type> inputs(definition_.operands.size() + 2, pointer_);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), inputs);
  auto function =
      b_.create<LLVM::LLVMFuncOp>(loc(), symbol_ + "_loops", type, LLVM::Linkage::Internal);
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    if (!in_place_ || i > ResultBuffer()) {
      function.setArgAttr(i, "llvm.noalias", b_.getUnitAttr());
    }
    if (i != ResultBuffer()) function.setArgAttr(i, "llvm.readonly", b_.getUnitAttr());
  }
  return function;
}

// Only parameters can be marked as not aliasing, pointers that are loaded cannot: hence the loops
// are a function of their own, which the entry calls with the pointers it has loaded.
void KernelBuilder::BuildEntry(LLVM::LLVMFuncOp loops) {
  auto generic = LLVM::LLVMPointerType::get(b_.getContext());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), {generic, generic});
  b_.setInsertionPointToEnd(module_.getBody());
  auto entry = b_.create<LLVM::LLVMFuncOp>(loc(), symbol_, type);
  mlir::Block* block = entry.addEntryBlock(b_);
  b_.setInsertionPointToStart(block);
  auto global = [&](Value pointer) -> Value {
    return cuda_ ? b_.create<LLVM::AddrSpaceCastOp>(loc(), pointer_, pointer) : pointer;
  };
  Values pointers;
  Value buffers = global(block->getArgument(0));
  for (int i = 0; i <= ResultBuffer(); ++i) {
    Value at =
        b_.create<LLVM::GEPOp>(loc(), pointer_, generic, buffers, llvm::ArrayRef<LLVM::GEPArg>{i});
    pointers.push_back(global(b_.create<LLVM::LoadOp>(loc(), generic, at, 8)));
  }
  pointers.push_back(global(block->getArgument(1)));
  b_.create<LLVM::CallOp>(loc(), loops, pointers);
  b_.create<LLVM::ReturnOp>(loc(), mlir::ValueRange());
}

Value KernelBuilder::Argument(int slot) {
  auto [at, inserted] = loaded_.try_emplace(slot);
  if (inserted) {
    mlir::OpBuilder::InsertionGuard guard(b_);
    mlir::Block* block = arguments_.getParentBlock();
    if (last_load_ == nullptr)
      b_.setInsertionPointToStart(block);
    else
      b_.setInsertionPointAfter(last_load_);
    Value address = b_.create<LLVM::GEPOp>(loc(), pointer_, b_.getI64Type(), arguments_,
                                           llvm::ArrayRef<LLVM::GEPArg>{slot});
    at->second = b_.create<LLVM::LoadOp>(loc(), b_.getI64Type(), address, 8);
    last_load_ = at->second.getDefiningOp();
  }
  return at->second;
}

// The slot of the first (origin, extent) pair of a buffer among the kernel's arguments.
int KernelBuilder::BoxArgument(int buffer) const {
  int slot = 2 * static_cast<int>(definition_.indices.size());
  for (int i = 0; i < buffer; ++i) slot += 2 * static_cast<int>(Buffer(i).dims.size());
  return slot;
}

void KernelBuilder::LoadRanges() {
  for (int i = 0; i < static_cast<int>(definition_.indices.size()); ++i) {
    begin_.push_back(Argument(BeginArgument(i)));
    end_.push_back(Argument(EndArgument(i)));
  }
  // A part of a reduction may have no term for some elements of its range of output indices. The
  // result's buffer has no room for those, so the output indices run over the buffer's box.
  int slot = BoxArgument(ResultBuffer());
  for (const Affine& left : definition_.left) {
    if (const int index = left.BareIndex(); index >= 0) {
      begin_[index] = s_.Max(begin_[index], Argument(slot));
      end_[index] = s_.Min(end_[index], s_.Add(Argument(slot), Argument(slot + 1)));
    }
    slot += 2;
  }
}

void KernelBuilder::AddAccesses() {
  auto add = [this](const Expr& expr) {
    if (expr.kind == Expr::kRead)
      reads_[&expr] = AddAccess(expr.operand, Substituted(expr.position));
  };
  Walk(definition_.body, add);
  for (const DataCondition& condition : definition_.data_where) Walk(condition.value, add);
  result_ = AddAccess(ResultBuffer(), Substituted(definition_.left));
  // Where output indices were solved, the identities are written along the indices themselves.
  whole_result_ = AddAccess(ResultBuffer(), definition_.left);
}

std::vector<Affine> KernelBuilder::Substituted(std::vector<Affine> position) const {
  for (Affine& at : position) at = Substitute(at, plan_.solved);
  return position;
}

int KernelBuilder::AddAccess(int buffer, std::vector<Affine> position) {
  for (size_t i = 0; i < accesses_.size(); ++i)
    if (accesses_[i].buffer == buffer && accesses_[i].position == position)
      return static_cast<int>(i);
  Access access;
  access.buffer = buffer;
  access.coefficients.resize(definition_.indices.size());
  access.offset = s_.Int(0);
  Value stride = s_.Int(1);
  for (int d = static_cast<int>(position.size()) - 1; d >= 0; --d) {
    // The only element of a dimension of 1 is at its origin and adds no offset; a term that is
    // always 0 would keep LLVM from simplifying the others.
    if (Buffer(buffer).dims[d] == 1) continue;
    const int slot = BoxArgument(buffer) + 2 * d;
    Value from_origin = s_.Sub(s_.Int(position[d].constant), Argument(slot));
    access.offset = s_.Add(access.offset, s_.Mul(from_origin, stride));
    for (const auto& [index, coefficient] : position[d].terms) {
      Value step = s_.Mul(stride, s_.Int(coefficient));
      Value& sum = access.coefficients[index];
      sum = sum ? s_.Add(sum, step) : step;
    }
    if (d > 0) stride = s_.Mul(stride, Argument(slot + 1));
  }
  access.position = std::move(position);
  accesses_.push_back(std::move(access));
  return static_cast<int>(accesses_.size()) - 1;
}

Value KernelBuilder::Address(int access) {
  const Access& a = accesses_[access];
  mlir::Type element = s_.StoredType(Buffer(a.buffer).type);
  return b_.create<LLVM::GEPOp>(loc(), pointer_, element, pointers_[a.buffer],
                                mlir::ValueRange{a.offset}, /*inbounds=*/true);
}

Typed KernelBuilder::Load(int access) {
  const ElementType type = Buffer(accesses_[access].buffer).type;
  mlir::Type stored = s_.StoredType(type);
  auto load = b_.create<LLVM::LoadOp>(loc(), stored, Address(access), Alignment(stored));
  if (access == result_) SetLane(load);
  return s_.FromStored(load, type);
}

void KernelBuilder::Store(Typed value, int access) {
  Value stored = s_.ToStored(value, definition_.result.type);
  SetLane(b_.create<LLVM::StoreOp>(loc(), stored, Address(access), Alignment(stored.getType())));
}

void BuildKernel(mlir::ModuleOp module, const NamedDefinition& named, const LoopPlan& plan,
                 Arithmetic arithmetic, bool cuda) {
  KernelBuilder(module, named, plan, arithmetic, cuda).Build();
}

}  // namespace yuba::kernels
