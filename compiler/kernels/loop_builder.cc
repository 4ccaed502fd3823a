#include "compiler/kernels/loop_builder.h"

#include <memory>

#include "compiler/kernels/kernel_builder.h"
#include "runtime/program/kernel_abi.h"

namespace yuba::kernels {

void KernelBuilder::Prepare() {
  LoadRanges();
  if (threads_ != nullptr) {
    known_ranges_ =
        StridesOf(function_.kernel(), function_.layout(), number_, plan_, /*hash=*/false).ranges;
  }
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
    if (threads_ != nullptr && threads_->parts > 1) return;  // the others follow in SumParts
    for (KernelBuilder* other : others_) other->BuildLoops();
  };
  if (function_.target().parallel) {
    OverPoints(all);
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
  if (threads_ != nullptr) {
    const KernelTensor& tensor = TensorOf(buffer);
    access.strides = StridesAt(position, Buffer(buffer), function_.BoxArgument(tensor),
                               known_ranges_, function_.kernel().known);
  }
  access.position = std::move(position);
  accesses_.push_back(std::move(access));
  return static_cast<int>(accesses_.size()) - 1;
}

Value KernelBuilder::Address(int access) {
  const Access& a = accesses_[access];
  mlir::Type element = s_.StoredType(Buffer(a.buffer).type);
  const Value first =
      b_.create<LLVM::GEPOp>(loc(), pointer_, element, function_.Pointer(TensorOf(a.buffer)),
                             mlir::ValueRange{a.offset}, /*inbounds=*/true);
  if (!a.lane) return first;
  return b_.create<LLVM::GEPOp>(loc(), pointer_, element, first, mlir::ValueRange{a.lane},
                                /*inbounds=*/true);
}

Typed KernelBuilder::Load(int access) {
  const ElementType type = Buffer(accesses_[access].buffer).type;
  mlir::Type stored = s_.StoredType(type);
  auto load = b_.create<LLVM::LoadOp>(loc(), stored, Address(access),
                                      AlignmentAt(accesses_[access], stored));
  if (access == result_) SetLane(load);
  return s_.FromStored(load, type);
}

// The value as it is in memory, and handed on to later definitions.
Value KernelBuilder::Kept(Typed value) {
  const Value stored = s_.ToStored(value, definition_.result.type);
  if (SliceIsElement()) {
    elements_.resize(std::max(lanes_, 1));
    elements_[std::max(lane_, 0)] = s_.FromStored(stored, definition_.result.type);
  }
  return stored;
}

void KernelBuilder::Write(Value stored, int access) {
  if (IsInternal()) return;
  SetLane(b_.create<LLVM::StoreOp>(loc(), stored, Address(access),
                                   AlignmentAt(accesses_[access], stored.getType())));
}

void KernelBuilder::Store(Typed value, int access) { Write(Kept(value), access); }

namespace {

// The builders of a kernel's definitions.
class Builders {
 public:
  Builders(KernelFunction& function, const std::vector<LoopPlan>& plans,
           const ThreadPlan* threads) {
    for (size_t d = 0; d < plans.size(); ++d) {
      owned_.push_back(
          std::make_unique<KernelBuilder>(function, static_cast<int>(d), plans[d], threads, all_));
      owned_.back()->Prepare();
      all_.push_back(owned_.back().get());
    }
  }
  KernelBuilder& first() const { return *all_[0]; }
  std::vector<KernelBuilder*> others() const { return {all_.begin() + 1, all_.end()}; }

 private:
  std::vector<std::unique_ptr<KernelBuilder>> owned_;
  std::vector<KernelBuilder*> all_;
};

}  // namespace

void BuildKernel(mlir::ModuleOp module, NamedKernel kernel, const std::vector<LoopPlan>& plans,
                 const KernelTarget& target, const ThreadPlan* threads) {
  const bool parts =
      threads != nullptr && threads->parts > 1 && threads->stage != ThreadPlan::kPlaces;
  KernelFunction function(module, kernel, target, parts);
  function.Begin();
  const Builders builders(function, plans, threads);
  switch (threads == nullptr ? ThreadPlan::kDefinitions : threads->stage) {
    case ThreadPlan::kDefinitions:
      if (kernel.shared == 0)
        builders.first().BuildLoops();
      else
        builders.first().BuildShared(builders.others());
      break;
    case ThreadPlan::kSumOfParts: builders.first().SumParts(builders.others()); break;
    case ThreadPlan::kIdentities: builders.first().WriteIdentities(); break;
    case ThreadPlan::kPlaces: builders.first().ScatterToPlaces(); break;
  }
  function.End();
}

}  // namespace yuba::kernels
