#include "compiler/kernels/loop_builder.h"

#include <memory>

#include "compiler/kernels/kernel_builder.h"

namespace yuba::kernels {

void KernelBuilder::Prepare() {
  LoadRanges();
  AddAccesses();
  accumulator_type_ = IsArgReducer(definition_.reducer) ? definition_.result.type
                                                        : AccumulatorType(definition_.result.type);
  tiled_ = plan_.mode == LoopPlan::kRow &&
           s_.StoredType(accumulator_type_) != s_.StoredType(definition_.result.type);
  if (tiled_) AllocateTile();
}

void KernelBuilder::BuildShared(const std::vector<KernelBuilder*>& others) {
  others_ = others;
  std::vector<int> shared;
  for (int index = 0; index < shared_; ++index) shared.push_back(index);
  const Action all = [&] {
    BuildLoops();
    for (KernelBuilder* other : others_) other->BuildLoops();
  };
  if (function_.target().parallel) {
    OverThreads(shared, all);
  } else {
    OverIndices(shared, all);
  }
}

const TensorType& KernelBuilder::Buffer(int buffer) const {
  return buffer == ResultBuffer() ? definition_.result : definition_.operands[buffer];
}

bool KernelBuilder::IsArg() const { return IsArgReducer(definition_.reducer); }

void KernelBuilder::LoadRanges() {
  for (int i = 0; i < static_cast<int>(definition_.indices.size()); ++i) {
    begin_.push_back(RangeArgument(BeginArgument(i)));
    end_.push_back(RangeArgument(EndArgument(i)));
  }
  // A part of a reduction may have no term for some elements of its range of output indices. The
  // result's buffer has no room for those, so the output indices run over the buffer's box. Indices
  // that are shared have parts whose elements are all computed.
  if (IsInternal()) return;
  int slot = BoxArgument(ResultBuffer());
  for (const Affine& left : definition_.left) {
    if (const int index = left.BareIndex(); index >= shared_) {
      begin_[index] = s_.Max(begin_[index], Argument(slot));
      end_[index] = s_.Min(end_[index], s_.Add(Argument(slot), Argument(slot + 1)));
    }
    slot += 2;
  }
}

void KernelBuilder::AddAccesses() {
  auto add = [this](const Expr& expr) {
    if (expr.kind == Expr::kRead && !IsElement(expr.operand))
      reads_[&expr] = AddAccess(expr.operand, Substituted(expr.position));
  };
  Walk(definition_, add);
  if (IsInternal()) return;
  result_ = AddAccess(ResultBuffer(), Substituted(definition_.left));
  // Where output indices were solved, the identities are written along the indices themselves.
  whole_result_ = AddAccess(ResultBuffer(), definition_.left);
}

std::vector<Affine> KernelBuilder::Substituted(std::vector<Affine> position) const {
  for (Affine& at : position) at = Substitute(at, plan_.solved);
  return position;
}

int KernelBuilder::AddAccess(int buffer, std::vector<Affine> position) {
  for (size_t i = 0; i < accesses_.size(); ++i) {
    if (accesses_[i].buffer == buffer && accesses_[i].position == position)
      return static_cast<int>(i);
  }
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
  return b_.create<LLVM::GEPOp>(loc(), pointer_, element, function_.Pointer(TensorOf(a.buffer)),
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
  if (SliceIsElement()) element_ = s_.FromStored(stored, definition_.result.type);
  if (IsInternal()) return;
  SetLane(b_.create<LLVM::StoreOp>(loc(), stored, Address(access), Alignment(stored.getType())));
}

void BuildKernel(mlir::ModuleOp module, const NamedKernel& kernel,
                 const std::vector<LoopPlan>& plans, const KernelTarget& target) {
  KernelFunction function(module, kernel, target);
  function.Begin();
  std::vector<std::unique_ptr<KernelBuilder>> builders;
  std::vector<KernelBuilder*> earlier;
  for (size_t d = 0; d < kernel.definitions.size(); ++d) {
    builders.push_back(
        std::make_unique<KernelBuilder>(function, kernel.definitions[d], plans[d], earlier));
    builders.back()->Prepare();
    earlier.push_back(builders.back().get());
  }
  if (kernel.shared == 0)
    builders[0]->BuildLoops();
  else
    builders[0]->BuildShared({earlier.begin() + 1, earlier.end()});
  function.End();
}

}  // namespace yuba::kernels
