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
    if (threads_ != nullptr && IsSum()) return SumsByGroup();
    for (KernelBuilder* each : All()) each->BuildLoops();
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

// The definitions of a kernel without sections, in the function at hand.
void BuildDefinitions(KernelFunction& function, const std::vector<LoopPlan>& plans,
                      const ThreadPlan* threads) {
  const Builders builders(function, plans, threads);
  switch (threads == nullptr ? ThreadPlan::kDefinitions : threads->stage) {
    case ThreadPlan::kDefinitions:
      if (function.kernel().shared == 0)
        builders.first().BuildLoops();
      else
        builders.first().BuildShared(builders.others());
      break;
    case ThreadPlan::kSumOfParts: builders.first().SumParts(builders.others()); break;
    case ThreadPlan::kIdentities: builders.first().WriteIdentities(); break;
    case ThreadPlan::kPlaces: builders.first().ScatterToPlaces(); break;
  }
}

// The function that others call of a kernel with sections: each block computes what is its own of
// the section that it is of, which alone loads pointers.
class SectionsEntry {
 public:
  SectionsEntry(mlir::ModuleOp module, const NamedKernel& kernel, const KernelTarget& target)
      : b_(module.getContext()),
        s_(b_, module, target),
        kernel_(kernel),
        generic_(LLVM::LLVMPointerType::get(b_.getContext())) {
    b_.setInsertionPointToEnd(module.getBody());
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), {generic_, generic_});
    auto entry = b_.create<LLVM::LLVMFuncOp>(loc(), kernel.symbol, type);
    parameters_ = entry.addEntryBlock(b_);
    b_.setInsertionPointToStart(parameters_);
  }

  // The next section; for processors `plan` is null.
  void Add(const KernelFunction& section, const ThreadPlan* plan) {
    if (plan == nullptr) return Call(section, {});
    if (!block_) block_ = ThreadNumber(b_, "ctaid.x");
    if (!first_) first_ = s_.Int(0);
    const Value wide = b_.create<arith::ExtUIOp>(loc(), b_.getI64Type(), block_);
    const Value own = s_.Sub(wide, first_), blocks = Blocks(section, *plan);
    // A block of an earlier section has a large number, as it is less than 0.
    const Value is_own = b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::ult, own, blocks);
    b_.create<scf::IfOp>(loc(), is_own, [&](mlir::OpBuilder&, mlir::Location) {
      Call(section, Value(b_.create<arith::TruncIOp>(loc(), b_.getI32Type(), own)));
      b_.create<scf::YieldOp>(loc());
    });
    first_ = s_.Add(first_, blocks);
  }

  void End() { b_.create<LLVM::ReturnOp>(loc(), mlir::ValueRange()); }

 private:
  mlir::Location loc() { return b_.getUnknownLoc(); }

  void Call(const KernelFunction& section, Value block) {
    const int buffers = section.layout().tensors() + (kernel_.checks_indices ? 1 : 0);
    Values arguments = LoadPointers(b_, *parameters_, buffers, section.pointer_type());
    if (block) arguments.push_back(block);
    b_.create<LLVM::CallOp>(loc(), section.loops(), arguments);
  }

  // How many blocks the launch has for the section.
  Value Blocks(const KernelFunction& section, const ThreadPlan& plan) {
    const std::vector<int64_t> sides = plan.Sides();
    Value points = s_.Int(1);  // or, of tiles, blocks
    for (size_t l = 0; l < plan.points.size(); ++l) {
      Value turns = s_.Int(1);
      for (const int index : plan.points[l].indices) {
        const int slot = 2 * section.kernel().definitions[0].indices[index];
        turns = s_.Mul(turns, s_.Max(s_.Sub(Argument(slot + 1), Argument(slot)), s_.Int(0)));
      }
      points = s_.Mul(points, plan.InTiles() ? s_.CeilDiv(turns, sides[l]) : turns);
    }
    return plan.InTiles() ? points : s_.CeilDiv(points, plan.PointsOfBlock());
  }

  Value Argument(int slot) {
    if (!kernel_.known.empty()) {
      const KnownArgument& known = kernel_.known[slot];
      if (known.base < 0) return s_.Int(known.offset);
      if (known.base != slot) return s_.Add(Argument(known.base), s_.Int(known.offset));
    }
    const Value address =
        b_.create<LLVM::GEPOp>(loc(), generic_, b_.getI64Type(), parameters_->getArgument(1),
                               llvm::ArrayRef<LLVM::GEPArg>{slot});
    return b_.create<LLVM::LoadOp>(loc(), b_.getI64Type(), address, 8);
  }

  mlir::OpBuilder b_;
  ScalarBuilder s_;
  const NamedKernel& kernel_;
  const LLVM::LLVMPointerType generic_;
  mlir::Block* parameters_ = nullptr;
  Value block_;  // that runs the code
  Value first_;  // block of the next section
};

}  // namespace

void BuildKernel(mlir::ModuleOp module, NamedKernel kernel, const std::vector<LoopPlan>& plans,
                 const KernelTarget& target, const ThreadPlan* threads) {
  const bool parts =
      threads != nullptr && threads->parts > 1 && threads->stage != ThreadPlan::kPlaces;
  KernelFunction function(module, kernel, target, parts);
  function.Begin();
  BuildDefinitions(function, plans, threads);
  function.End();
}

void BuildSections(mlir::ModuleOp module, const NamedKernel& kernel,
                   const std::vector<LoopPlan>& plans, const KernelTarget& target,
                   const std::vector<ThreadPlan>& threads) {
  SectionsEntry entry(module, kernel, target);
  for (size_t s = 0; s < kernel.sections.size(); ++s) {
    const program::Section& section = kernel.sections[s];
    const std::vector<LoopPlan> own(plans.begin() + section.begin, plans.begin() + section.end);
    const ThreadPlan* plan = threads.empty() ? nullptr : &threads[s];
    const NamedKernel part = SectionOf(kernel, s);
    KernelFunction function(module, part, target, /*scratch=*/false);
    function.BeginSection();
    BuildDefinitions(function, own, plan);
    function.End();
    entry.Add(function, plan);
  }
  entry.End();
}

}  // namespace yuba::kernels
