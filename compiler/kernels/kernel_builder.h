// The builder of one definition of a kernel: it walks a loop plan from the outside in and emits
// MLIR as it goes. One class in eight files: loop_builder.cc (arguments, accesses, several
// definitions), loop_control.cc (loops, branches and their bounds), loop_body.cc (accumulators),
// loop_terms.cc (bodies); for GPUs loop_threads.cc (what threads share out), loop_tiles.cc (maps
// in tiles), loop_groups.cc (what groups of them compute together) and loop_scatter.cc. Only
// loop_builder.h is for others.
//
// Of a kernel of several definitions the builder of the first one emits the loops over the shared
// indices, and all builders in turn what is inside. A result of which one element is computed there
// is handed to later definitions in a register; other results they read where they were written.
//
// The state is what is known where code is being emitted: the value of each index whose loop or
// lookup is outside, the offset of each access with those values, and the expressions already
// computed. A loop or branch makes more known inside of it; Scoped forgets that behind it.
#ifndef YUBA_COMPILER_KERNELS_KERNEL_BUILDER_H_
#define YUBA_COMPILER_KERNELS_KERNEL_BUILDER_H_

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/kernels/kernel_function.h"
#include "compiler/kernels/loop_plan.h"
#include "compiler/kernels/named_kernel.h"
#include "compiler/kernels/placement.h"
#include "compiler/kernels/scalars.h"
#include "compiler/kernels/threads/strides.h"
#include "compiler/kernels/threads/thread_plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "opsemantics/regions/boxes.h"

namespace yuba::kernels {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;
using mlir::Value;
using Values = llvm::SmallVector<Value>;

// A loop of which some neighbouring turns are at hand as lanes.
struct LaneLoop {
  MergedLoop loop;
  int lanes = 1;
  Value base;  // the turn that the first of them is
};

// Elements of one buffer at affine positions. The offset is kept up to date loop by loop.
struct Access {
  int buffer = 0;                   // an operand's number, or the result's behind them
  std::vector<Affine> position;     // [dimension], with solved indices replaced
  std::vector<Value> coefficients;  // [index]: elements by which one step moves; null: none
  Value offset;                     // in elements, with the indices known so far
  Value lane;                       // elements of the lane at hand behind it; null: none
  Strides strides;                  // as far as they are known (GPUs)
};

// What threads have accumulated of a point, together or one of them.
struct Accumulated {
  Typed value;
  // Of argmax and argmin: where the value is among the terms, row-major; -1: there was none. Of
  // other reducers null.
  Value position;
};

class KernelBuilder {
 public:
  // Of definition `number` of the kernel. `earlier` are the builders of those before it, `threads`
  // is the kernel's plan for GPUs, or null.
  KernelBuilder(KernelFunction& function, int number, const LoopPlan& plan,
                const ThreadPlan* threads, const std::vector<KernelBuilder*>& earlier)
      : function_(function),
        b_(function.builder()),
        s_(function.scalars()),
        number_(number),
        place_(function.kernel().definitions[number]),
        definition_(*place_.definition),
        shared_(function.kernel().shared),
        plan_(plan),
        threads_(threads),
        pointer_(function.pointer_type()),
        earlier_(earlier),
        values_(definition_.indices.size()),
        whole_(WholeRanges(definition_)) {
    for (const KernelTensor& operand : place_.operands) {
      writers_.push_back(nullptr);
      for (KernelBuilder* writer : earlier)
        if (writer->place_.computes == operand) writers_.back() = writer;
    }
  }

  // What comes before all loops.
  void Prepare();
  // The loops; of several definitions those inside of the shared ones.
  void BuildLoops();
  // The loops over the shared indices and, inside of them, this definition and the others in turn.
  void BuildShared(const std::vector<KernelBuilder*>& others);
  // In place of the loops, stages of a thread plan: sums of the parts that another one has left,
  // and the other definitions, which have no loops; what a scatter begins with; its terms.
  void SumParts(const std::vector<KernelBuilder*>& others);
  void WriteIdentities();
  void ScatterToPlaces();

 private:
  // What stands inside a loop or branch. `carried` are the accumulators in registers: their values
  // come in, and those after the inside go out; empty where accumulators are in memory.
  using Inner = std::function<Values(Values)>;
  using Action = std::function<void()>;  // an inside that carries nothing

  mlir::Location loc() { return b_.getUnknownLoc(); }
  int ResultBuffer() const { return static_cast<int>(definition_.operands.size()); }
  const TensorType& Buffer(int buffer) const;
  bool IsArg() const;

  // Arguments and tensors.
  Value Argument(int slot) { return function_.Argument(slot); }
  // Of the begin or end of one of the definition's own indices (BeginArgument, EndArgument).
  Value RangeArgument(int slot) { return Argument(2 * place_.indices[slot / 2] + slot % 2); }
  const KernelTensor& TensorOf(int buffer) const {
    return buffer == ResultBuffer() ? place_.computes : place_.operands[buffer];
  }
  int BoxArgument(int buffer) const { return function_.BoxArgument(TensorOf(buffer)); }
  bool IsInternal() const { return place_.computes.kind == KernelTensor::kInternal; }
  // Whether one element is computed at each value of the shared indices.
  bool SliceIsElement() const {
    return shared_ > 0 && std::count_if(definition_.indices.begin(), definition_.indices.end(),
                                        [](const Index& i) { return !i.reduction; }) == shared_;
  }
  // Whether the operand is such an element of an earlier definition.
  bool IsElement(int operand) const {
    return writers_[operand] != nullptr && writers_[operand]->SliceIsElement();
  }
  void LoadRanges();

  // Accesses.
  void AddAccesses();
  std::vector<Affine> Substituted(std::vector<Affine> position) const;
  int AddAccess(int buffer, std::vector<Affine> position);
  Value Address(int access);
  Typed Load(int access);
  void Store(Typed value, int access);
  Value Kept(Typed value);
  void Write(Value stored, int access);
  static unsigned Alignment(mlir::Type type) { return type.getIntOrFloatBitWidth() / 8; }
  unsigned AlignmentAt(const Access& access, mlir::Type stored) const;

  // The state of the loops.

  // What is known, of this definition and of the others that share loops with it.
  struct State {
    std::vector<Value> values, offsets, lanes, begin, end;
    std::map<const Expr*, Typed> memo;
    std::vector<State> others;
  };
  State Save() const {
    State state{values_, {}, {}, begin_, end_, memo_, {}};
    for (const Access& access : accesses_) {
      state.offsets.push_back(access.offset);
      state.lanes.push_back(access.lane);
    }
    for (const KernelBuilder* other : others_) state.others.push_back(other->Save());
    return state;
  }
  void Restore(const State& state) {
    values_ = state.values;
    memo_ = state.memo;
    begin_ = state.begin;
    end_ = state.end;
    for (size_t i = 0; i < accesses_.size(); ++i) {
      accesses_[i].offset = state.offsets[i];
      accesses_[i].lane = state.lanes[i];
    }
    for (size_t i = 0; i < others_.size(); ++i) others_[i]->Restore(state.others[i]);
  }
  // Runs `action` with everything it makes known forgotten afterwards.
  template <typename F>
  auto Scoped(F action) {
    const State state = Save();
    if constexpr (std::is_void_v<decltype(action())>) {
      action();
      Restore(state);
    } else {
      auto result = action();
      Restore(state);
      return result;
    }
  }
  void Bind(int index, Value value);
  void BindLoop(const MergedLoop& loop, Value turn);
  void BindLane(int lane);
  Value AffineValue(const Affine& affine);

  // Control flow.
  Values For(Value begin, Value end, Value step, const Values& carried,
             const std::function<Values(Value, Values)>& body);
  Values LoopOver(int index, Value begin, Value end, const Values& carried, const Inner& inner);
  Values Where(Value condition, Values carried, const Inner& inner);
  Values WithUnits(const std::vector<int>& units, Values carried, const Inner& inner);
  void OverIndices(const std::vector<int>& indices, const Action& action);
  void OverLoops(const std::vector<int>& indices, size_t at, const Action& action);
  void OverOuter(const Action& action);

  // What the threads of a GPU share out (ThreadPlan).
  bool InGroups() const { return threads_ != nullptr && threads_->group > 1; }
  void OverPoints(const Action& action);
  void OverTiles(const Action& action);
  std::vector<Value> TileNumbers();
  LaneLoop TileLanes(const MergedLoop& loop, const TileSide& side, Value tile, Value warp,
                     Value thread);
  Value Chunk();
  Value Points();
  Value ExtentOf(const MergedLoop& loop);
  void WithChunk(const std::vector<MergedLoop>& loops, int lanes, Value chunk,
                 const Action& action);
  Values OverTurns(const Values& carried, const Inner& inner);
  Values OverTurns(const Values& carried, const std::vector<KernelBuilder*>& builders,
                   const std::function<Values(size_t, const Values&)>& inner);
  std::string RowKey(const KernelTensor& tensor, const std::vector<Affine>& position);
  Accumulated OverLanes();
  Accumulated OverGroup(Accumulated sum);
  Accumulated OverWarp(Accumulated sum);
  Accumulated ThroughSharedMemory(const Accumulated& sum);
  Value FromOtherLane(Value value, int distance);
  void GroupBarrier();
  bool IsOwn(const Expr& read, const KernelBuilder& reader, const KernelBuilder& writer) const;
  bool NeedsBarrier() const;
  void ByGroup();
  void StoreByFirst(const Accumulated& sum);
  // Accumulators of several threads in memory.
  struct Memory {
    Value values, positions;  // the latter of argmax and argmin alone
  };
  // Sums in the same turns (ThreadPlan::sums), and what follows them.
  bool IsSum() const;
  std::vector<KernelBuilder*> All();
  void SumsByGroup();
  void StoreColumns();
  void StoreColumn(const std::function<Value(int64_t, Value)>& place);
  void SumOwnParts();
  Memory Parts();
  Value PartNumber(Value part, int64_t lane);
  Memory SharedMemory(int count);
  Value SharedArray(const char* name, mlir::Type type, int count);
  void StoreAt(const Memory& memory, Value number, const Accumulated& sum);
  Accumulated LoadAt(const Memory& memory, Value number);
  // [lane]: accumulators as loops carry them, and the other way round.
  std::vector<Accumulated> AccumulatedOf(const Values& carried);
  Values CarriedOf(const Accumulated& sum) const;
  Accumulated NothingYet();
  Accumulated Combined(const Accumulated& a, const Accumulated& b);
  Typed Finished(const Accumulated& sum);
  ElementType CombinedType() const;

  // A scatter on GPUs (loop_scatter.cc).
  Values AtTerm(Value term, const std::function<Values()>& action);
  Value PlaceOfTerm();
  const LoopStep& ScatterStep() const;
  Value InAnyOfWarp(Value condition);
  void AlongPlace(const Action& action);
  Values SumOfPlace(Value term, Value terms, const std::function<Value(Value)>& goes_there);
  Values WithTerm(const Values& carried);
  void StorePlace(const Values& sums);

  // Lanes, computed side by side: the rows of a block (LoopPlan::block), or neighbouring elements
  // that a thread computes.
  void ForLanes(const Action& action);
  void WithLanes(const std::vector<LaneLoop>& loops, const Action& action);
  void SetLane(LLVM::AliasAnalysisOpInterface op);
  void OverBlocks(const Action& action);

  // Bounds from constraints.
  Value Rest(const Bound& bound, int index, bool least);
  std::pair<Value, Value> Narrowed(int index);
  std::pair<Value, Value> OwnPart(Value begin, Value end);
  Value Compare(arith::CmpIPredicate order, Value a, Value b);
  Value Holds(const Bound& bound);
  std::vector<const Bound*> BoundsCheckedAfter(int step) const;
  Values WhereBoundsHold(int step, Values carried, const Inner& inner);

  // Steps inside of the accumulator.
  Values Steps(int at, Values carried);
  Value LookedUp(const LoopStep& step);
  Values Lookup(int at, Values carried, const Inner& next);
  Value DataHolds(const DataCondition& condition);

  // Accumulators.
  Values Term(Values carried);
  void IntoMemory(Typed value);
  Values Better(Typed value, Values carried);
  Value PositionAt(const std::vector<Value>& values);
  Typed IdentityValue() { return s_.Identity(definition_.reducer, accumulator_type_); }
  Values Accumulate(Values carried);
  void MapElements();
  Typed InRegister();
  void WhereActive(const Action& action);
  void InRegisters();
  void InRow();
  void InTiles();
  void AllocateTile();
  Value TileAddress();
  Typed LoadTile();
  void StoreTile(Typed value);

  // Bodies. EmitRoot is for the body and the values of conditions, Emit for the terms in them.
  Typed EmitRoot(const ExprPtr& root);
  Placement PlacementOf(const ExprPtr& root) const;
  void Enter(int region);
  Typed Guarded(const Expr& term, int region);
  Value Reached(int region);
  Value ConditionOf(const Region& region);
  Value MayBe(const ExprPtr& condition, bool value);
  Value MayBeNew(const Expr& condition, bool value);
  Value Both(Value a, Value b);
  Value Either(Value a, Value b);
  Typed Emit(const Expr& expr);
  Typed EmitNew(const Expr& expr);
  void CheckIndex(const Expr& term, const std::vector<Typed>& args);
  Value ElementOf(const Expr& read);
  void Note(Value record, const Values& numbers);
  static const Expr* FirstRead(const Expr& term);  // null: it reads none
  Typed Cast(Typed value, ElementType type);
  bool NeedsBranch(const Expr& expr) const;
  bool MayReadAnywhere(const Expr& read) const;
  Typed Select(const Expr& expr);
  Typed Branch(Value condition, ElementType type, const std::function<Typed()>& then,
               const std::function<Typed()>& otherwise);
  Typed Read(const Expr& expr);
  bool IsInside(const Expr& read) const;
  Value Inside(const Expr& read);
  void RoundHere(Value value);

  KernelFunction& function_;
  mlir::OpBuilder& b_;
  ScalarBuilder& s_;
  const int number_;  // of the definition in the kernel
  const KernelDefinition& place_;
  const Definition& definition_;
  const int shared_;  // how many leading indices the kernel's definitions share
  const LoopPlan& plan_;
  const ThreadPlan* const threads_;
  LLVM::LLVMPointerType pointer_;

  std::vector<KernelBuilder*> writers_;  // [operand]: the definition that computes it, or null
  std::vector<KernelBuilder*> others_;   // those that the shared loops of this one hold too
  std::vector<Typed> elements_;          // [lane], where SliceIsElement: those at hand

  const std::vector<KernelBuilder*> earlier_;  // of the definitions before this one
  std::vector<Access> accesses_;
  std::map<const Expr*, int> reads_;  // a read -> its access
  // The access of the result: with solved indices replaced, and along the indices themselves.
  int result_ = 0, whole_result_ = 0;

  std::vector<Value> values_;             // [index]: its value where it is known, else null
  std::vector<Value> begin_, end_;        // [index]: the range that the device computes
  std::vector<KnownRange> known_ranges_;  // the same, as far as it is known (GPUs)
  std::map<const Expr*, Typed> memo_;     // expressions whose values are known
  const Placement* placement_ = nullptr;  // of the root at hand
  std::map<int, Value> reached_;          // [region of `placement_`]: whether a point is in it
  std::map<std::pair<const Expr*, bool>, Value> may_be_;  // what MayBe knows of the root at hand
  std::map<const Expr*, Placement> placed_;               // of the roots so far
  const std::vector<Interval> whole_;                     // [index]: its whole extent

  int lanes_ = 0;  // lanes at hand; 0: there are none
  int lane_ = -1;  // the one at hand; -1: none
  // Along which they are neighbours: one, or the two of a tile, of which the last runs first.
  std::vector<LaneLoop> lane_loops_;
  std::vector<mlir::Attribute> scopes_;  // [lane]: its alias scope

  // Of the thread, with a ThreadPlan: its number in its group, of the group in its block, of the
  // first of its points, of the part of a sum that it computes, and whether the points are any.
  Value in_group_, in_block_, point_, part_, valid_;
  std::vector<Accumulated> sums_;  // [lane]: what the thread has accumulated in the group's turns
  Memory columns_;                 // what all threads of the block have
  bool shares_terms_ = false;      // whether the terms at hand are some of a group's
  Value active_;                   // whether the turn at hand is one; null: it is
  int64_t turn_ = -1;              // of those that are written down one after the other; -1: none
  mlir::Block* row_block_ = nullptr;  // where they are

  ElementType accumulator_type_ = ElementType::kF32;
  bool tiled_ = false;  // kRow with accumulators on the stack, which `tile_` points to
  Value tile_;
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_KERNEL_BUILDER_H_
