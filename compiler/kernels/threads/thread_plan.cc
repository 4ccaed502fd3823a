#include "compiler/kernels/threads/thread_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/kernels/threads/limits.h"
#include "compiler/kernels/threads/strides.h"
#include "opsemantics/base/check.h"
#include "opsemantics/regions/largest_operands.h"

namespace yuba::kernels {
namespace {

class ThreadPlanner {
 public:
  ThreadPlanner(const NamedKernel& kernel, const std::vector<LoopPlan>& plans,
                const KernelTarget& target)
      : kernel_(kernel), plans_(plans), warp_(target.facts->warp), tiles_(target.tiles) {
    const ArgumentLayout layout(kernel);
    const bool hash = target.arithmetic == Arithmetic::kHash;
    for (size_t d = 0; d < plans.size(); ++d)
      strides_.push_back(StridesOf(kernel, layout, static_cast<int>(d), plans[d], hash));
  }

  std::vector<ThreadPlan> Plan() {
    if (warp_ > 0 && IsScatterByOne()) return Scatter();
    if (warp_ > 0) ChooseGroup();
    plan_.points = Merged(PointIndices(), AllDefinitions());
    if (plan_.group == 1 || plan_.columns) plan_.lanes = PointLanes();
    while (plan_.group == 1 && plan_.lanes > 1 && Points() / plan_.lanes < kEnoughThreads)
      plan_.lanes /= 2;
    if (tiles_ && plan_.group == 1) PutIntoTiles();
    if (plan_.parts == 1) return {plan_};
    if (plan_.sums.empty()) plan_.sums = {0};
    ThreadPlan sum;
    sum.stage = ThreadPlan::kSumOfParts;
    sum.sums = plan_.sums;
    sum.parts = plan_.parts;
    sum.points = plan_.points;
    return {plan_, sum};
  }

 private:
  const Definition& DefinitionOf(int d) const { return *kernel_.definitions[d].definition; }

  std::vector<int> AllDefinitions() const {
    std::vector<int> all;
    for (size_t d = 0; d < plans_.size(); ++d) all.push_back(static_cast<int>(d));
    return all;
  }

  std::vector<int> PointIndices() const {
    if (kernel_.shared == 0) return plans_[0].outer;
    std::vector<int> shared;
    for (int index = 0; index < kernel_.shared; ++index) shared.push_back(index);
    return shared;
  }

  // The loops inside of the points: those that a group may share out. Where a row has several
  // elements, each of which is a sum, these are the elements; a thread computes the sum alone.
  std::vector<int> InnerIndices(int d) const {
    std::vector<int> inner;
    for (const int index : plans_[d].outer)
      if (kernel_.shared > 0 && index >= kernel_.shared) inner.push_back(index);
    if (!inner.empty()) return inner;
    for (const LoopStep& step : plans_[d].steps)
      if (step.kind == LoopStep::kLoop) inner.push_back(step.index);
    return inner;
  }

  // Whether a step of `outer` moves every access by as much as all turns of `inner` do.
  bool Merges(int outer, int inner, const std::vector<int>& definitions, bool only_written) const {
    return std::all_of(definitions.begin(), definitions.end(), [&](int d) {
      const DefinitionStrides& strides = strides_[d];
      const bool named = strides.named.count(outer) > 0 || strides.named.count(inner) > 0;
      if (named && !only_written) return false;
      const absl::optional<int64_t> extent = strides.ranges[inner].extent;
      return extent && std::all_of(strides.accesses.begin(), strides.accesses.end(),
                                   [&](const Strides& access) {
                                     if (only_written && !access.written) return true;
                                     const auto &step = access.steps[outer],
                                                &turn = access.steps[inner];
                                     return step && turn && *step == *turn * *extent;
                                   });
    });
  }

  // Of the definitions, which have the indices in common.
  std::vector<MergedLoop> Merged(const std::vector<int>& indices,
                                 const std::vector<int>& definitions,
                                 bool only_written = false) const {
    const std::vector<KnownRange>& ranges = strides_[definitions[0]].ranges;
    std::vector<MergedLoop> loops;
    for (size_t at = indices.size(); at-- > 0;) {
      const int index = indices[at];
      const absl::optional<int64_t> extent = ranges[index].extent;
      if (loops.empty() ||
          !Merges(index, loops.front().indices.front(), definitions, only_written)) {
        loops.insert(loops.begin(), {{index}, extent});
        continue;
      }
      MergedLoop& loop = loops.front();
      loop.indices.insert(loop.indices.begin(), index);
      loop.extent =
          loop.extent && extent ? absl::make_optional(*loop.extent * *extent) : absl::nullopt;
    }
    return loops;
  }

  // How many neighbouring elements along `index` the accesses of a definition take at a time.
  int WidestLanes(int d, int index, bool only_written = false) const {
    int bytes = kAccessBytes;
    for (const Strides& access : strides_[d].accesses)
      if (access.steps[index] == 1 && (access.written || !only_written))
        bytes = std::min(bytes, access.bytes);
    return std::min(kAccessBytes / bytes, kMostLanes);
  }

  static int LanesWithin(int lanes, absl::optional<int64_t> extent) {
    while (lanes > 1 && (!extent || *extent % lanes != 0)) lanes /= 2;
    return lanes;
  }

  // Whether lanes along `index` can share everything but the innermost terms.
  bool MayHaveLanes(int d, int index) const {
    const LoopPlan& plan = plans_[d];
    if (IsArgReducer(DefinitionOf(d).reducer) || strides_[d].branches) return false;
    return !Controls(DefinitionOf(d), plan, index);
  }

  // Of sums down columns as many as each of them has alone, whatever is computed of them.
  int PointLanes() const {
    if (plan_.points.empty() || plan_.step >= 0) return 1;
    const MergedLoop& last = plan_.points.back();
    const int index = last.indices.back();
    const bool rows = kernel_.shared > 0 && down_.empty();
    int lanes = 1;
    for (size_t d = 0; d < plans_.size(); ++d) {
      const int number = static_cast<int>(d);
      if (!MayHaveLanes(number, index)) return 1;
      const bool loops = !InnerIndices(number).empty();
      if (loops && (rows || !RunsAlongMemory(number, index))) return 1;
      if (!loops && !down_.empty()) continue;
      lanes = std::max(lanes, WidestLanes(number, index));
      if (strides_[d].accesses.empty()) continue;
      const Strides& written = strides_[d].accesses.back();
      if (written.written && written.steps[index] != 1) return 1;
    }
    // One loop may end amid the lanes of its last thread, but for threads that wait for others.
    const bool alone = rows || InnerIndices(0).empty();
    return plan_.points.size() > 1 || !alone ? LanesWithin(lanes, last.extent) : lanes;
  }

  // Where maps read along other loops than they write.
  void PutIntoTiles() {
    if (warp_ == 0 || plan_.step >= 0) return;
    TileWork work;
    work.points = plan_.points;
    work.may_have_lanes.assign(plan_.points.size(), true);
    for (size_t d = 0; d < plans_.size(); ++d) {
      const int number = static_cast<int>(d);
      if (plans_[d].mode != LoopPlan::kMap || !InnerIndices(number).empty()) return;
      const std::vector<Strides>& accesses = strides_[d].accesses;
      work.accesses.insert(work.accesses.end(), accesses.begin(), accesses.end());
      for (size_t loop = 0; loop < plan_.points.size(); ++loop) {
        if (!MayHaveLanes(number, plan_.points[loop].indices.back()))
          work.may_have_lanes[loop] = false;
      }
    }
    work.most_points = Points();
    work.lanes = plan_.lanes;
    plan_.tile = ChooseTile(work, warp_, plan_.threads);
    if (plan_.InTiles()) plan_.lanes = plan_.tile.last.lanes;
  }

  // How many points there are, at most.
  int64_t Points() const {
    int64_t points = 1;
    for (const int index : PointIndices()) {
      const absl::optional<int64_t> extent = strides_[0].ranges[index].extent;
      points *= extent ? *extent : DefinitionOf(0).indices[index].extent;
    }
    return points;
  }

  // Whether a group can share out all inner loops of a definition as they are: nothing bounds them
  // and all launches have as many turns.
  bool IsPlain(int d) const {
    const LoopPlan& plan = plans_[d];
    const std::vector<int> inner = InnerIndices(d);
    const bool known = std::all_of(inner.begin(), inner.end(), [&](int index) {
      return strides_[d].ranges[index].extent.value_or(0) > 0;
    });
    if (!known || plan.mode == LoopPlan::kScatter) return false;
    if (static_cast<int>(plan.outer.size()) > kernel_.shared && kernel_.shared > 0) return true;
    if (!HasLoopsAlone(d)) return false;
    return plan.mode == LoopPlan::kMap || IsShared(DefinitionOf(d).reducer);
  }

  // Whether all values of the loops are terms: neither bounds nor data leave any out.
  bool HasLoopsAlone(int d) const {
    const LoopPlan& plan = plans_[d];
    return plan.bounds.empty() &&
           std::all_of(plan.steps.begin(), plan.steps.end(),
                       [](const LoopStep& step) { return step.kind == LoopStep::kLoop; });
  }

  bool RunsAlongMemory(int d, int index) const {
    return std::any_of(
        strides_[d].accesses.begin(), strides_[d].accesses.end(),
        [&](const Strides& access) { return !access.written && access.steps[index] == 1; });
  }

  // The same of the largest operands, also without what is known of arguments.
  bool LargestRunAlong(int d, int index) const {
    int64_t largest = 0;
    for (const Strides& access : strides_[d].accesses)
      if (!access.written) largest = std::max(largest, access.elements);
    const std::vector<Strides>& accesses = strides_[d].accesses;
    return LargestLieAlong(DefinitionOf(d), index) ||
           std::any_of(accesses.begin(), accesses.end(), [&](const Strides& access) {
             return !access.written && access.elements == largest && access.steps[index] == 1;
           });
  }

  // Without what is known of arguments, as their order in memory has it.
  bool IsLast(int d, int index) const {
    bool last = false;
    Walk(DefinitionOf(d).body, [&](const Expr& expr) {
      last |= expr.kind == Expr::kRead && !expr.position.empty() &&
              Coefficient(expr.position.back(), index) == 1;
    });
    return last;
  }

  InnerLoops InnerOf(int d) const {
    InnerLoops inner;
    inner.loops = Merged(InnerIndices(d), {d});
    for (const MergedLoop& loop : inner.loops) inner.turns *= *loop.extent;
    if (inner.loops.empty()) return inner;
    const MergedLoop& last = inner.loops.back();
    const int index = last.indices.back();
    const bool sums =
        plans_[d].mode == LoopPlan::kRegister && DefinitionOf(d).indices[index].reduction;
    if ((sums || plans_[d].mode == LoopPlan::kMap) && MayHaveLanes(d, index))
      inner.lanes = LanesWithin(WidestLanes(d, index), last.extent);
    return inner;
  }

  void ChooseGroup() {
    if (kernel_.shared == 0) {
      ChooseGroupAlone();
      return;
    }
    down_ = ColumnSums();
    if (!down_.empty()) {
      if (ChooseColumns(down_)) ShareParts();
      return;
    }
    for (size_t d = 0; d < plans_.size(); ++d) {
      if (!InnerIndices(static_cast<int>(d)).empty() && !IsPlain(static_cast<int>(d))) return;
    }
    ShareAllLoops();
    bool once = true;  // are there loops in the first definition alone?
    for (size_t d = 1; d < plans_.size(); ++d) once &= InnerIndices(static_cast<int>(d)).empty();
    if (once) ShareParts();
  }

  void ChooseGroupAlone() {
    const LoopPlan& plan = plans_[0];
    const std::vector<int> inner = InnerIndices(0);
    if (plan.mode != LoopPlan::kRegister || !IsShared(DefinitionOf(0).reducer) || inner.empty())
      return;
    const bool few = Points() <= kFewResults;
    const bool along = LargestRunAlong(0, inner.back());
    if (IsPlain(0) && !along && ChooseColumns({0})) return ShareParts();
    if (!few && !along) return;
    if (IsPlain(0)) {
      ShareAllLoops();
      return ShareParts();
    }
    int longest = -1;
    for (const int index : inner) {
      const int64_t extent = DefinitionOf(0).indices[index].extent;
      if (extent < warp_) continue;  // not worth sharing out
      if (longest < 0 || IsLast(0, index) || extent > DefinitionOf(0).indices[longest].extent)
        longest = index;
    }
    // A bounded argmax begins at the first position even where bounds leave it out, so that its
    // parts cannot be combined.
    if (IsArgReducer(DefinitionOf(0).reducer) && !HasLoopsAlone(0)) return;
    if (longest < 0 || (!few && !IsLast(0, longest))) return;
    ShareStep(longest);
  }

  // Shares out one loop within a group, of which nobody knows how many turns it has when the kernel
  // is compiled, as devices differ or bounds depend on it: at most as many as the index has values.
  // The group is wider than a warp where the GPU would be idle. Blocks share out the loop that can
  // have most parts.
  void ShareStep(int index) {
    const auto extent = [&](int of) { return DefinitionOf(0).indices[of].extent; };
    plan_.step = index;
    plan_.group = warp_;
    while (plan_.group < kMostThreads && extent(index) > kAccessesEach * plan_.group &&
           Points() * plan_.group < kEnoughBlocks * kMostThreads)
      plan_.group *= 2;
    if (plan_.group > warp_) plan_.threads = plan_.group;
    int64_t turns = 1, most_parts = extent(index) / (kAccessesEach * plan_.group);
    plan_.step_of_parts = index;
    for (const int inner : InnerIndices(0)) {
      turns *= extent(inner);
      if (inner == index || extent(inner) <= most_parts) continue;
      plan_.step_of_parts = inner;
      most_parts = extent(inner);
    }
    plan_.parts = PartsOf(turns, turns / plan_.group);
    if (plan_.step_of_parts != index)
      plan_.parts = static_cast<int>(std::min<int64_t>(plan_.parts, most_parts));
  }

  // Of a cluster the sums whose terms lie across memory, while columns lie along it: all of the
  // same turns, so that what several read is read once. Empty where the others are not computed of
  // whole sums alone.
  std::vector<int> ColumnSums() const {
    std::vector<int> sums;
    if (kernel_.whole != nullptr) return sums;
    for (size_t d = 0; d < plans_.size(); ++d) {
      const int number = static_cast<int>(d);
      if (!SliceIsElement(kernel_, number)) return {};
      const std::vector<int> inner = InnerIndices(number);
      if (inner.empty()) continue;
      const bool sum = plans_[d].mode == LoopPlan::kRegister && IsPlain(number) &&
                       !IsArgReducer(DefinitionOf(number).reducer);
      if (!sum || LargestRunAlong(number, inner.back())) return {};
      const std::vector<KernelTensor>& operands = kernel_.definitions[d].operands;
      if (!std::all_of(operands.begin(), operands.end(), [](const KernelTensor& operand) {
            return operand.kind == KernelTensor::kOperand;
          }))
        return {};
      sums.push_back(number);
    }
    const bool first = !sums.empty() && sums[0] == 0;
    const bool alike = first && std::all_of(sums.begin(), sums.end(), [&](int d) {
                         return InnerIndices(d) == InnerIndices(0) &&
                                ExtentsOf(d) == ExtentsOf(0) &&
                                AccumulatorType(DefinitionOf(d).result.type) ==
                                    AccumulatorType(DefinitionOf(0).result.type);
                       });
    return alike ? sums : std::vector<int>();
  }

  // Of the inner loops.
  std::vector<absl::optional<int64_t>> ExtentsOf(int d) const {
    std::vector<absl::optional<int64_t>> extents;
    for (const int index : InnerIndices(d)) extents.push_back(strides_[d].ranges[index].extent);
    return extents;
  }

  // Neighbouring threads compute neighbouring points, as these lie side by side in memory. `sums`
  // are of the same turns.
  bool ChooseColumns(const std::vector<int>& sums) {
    plan_.points = Merged(PointIndices(), AllDefinitions());
    if (plan_.points.empty() || !RunsAlongMemory(0, plan_.points.back().indices.back()))
      return false;
    const int lanes = PointLanes();
    const int64_t chunks = std::max<int64_t>(Points() / lanes, 1);
    InnerLoops inner = InnerOf(0);
    inner.loops = Merged(InnerIndices(0), sums);
    inner.lanes = 1;
    if (chunks >= kEnoughThreads || inner.turns < 2 * kAccessesEach) return false;
    int across = warp_;
    while (across > 1 && across / 2 >= chunks) across /= 2;
    plan_.group = plan_.threads / across;
    while (plan_.group > 2 && plan_.group * kAccessesEach > inner.turns) plan_.group /= 2;
    plan_.threads = std::max(across * plan_.group, warp_);
    plan_.group = plan_.threads / across;
    // Each thread leaves its sums there for the first of its group.
    const int64_t bytes_each = static_cast<int64_t>(sums.size()) * lanes *
                               ByteSize(AccumulatorType(DefinitionOf(0).result.type));
    for (; bytes_each * plan_.threads > kMostSharedBytes && plan_.group > 1; plan_.group /= 2)
      plan_.threads /= 2;
    plan_.columns = true;
    plan_.inner.resize(plans_.size());
    for (const int d : sums) plan_.inner[d] = inner;
    plan_.sums = sums;
    return true;
  }

  // Whether the result is scattered to by one index that is looked up, of loops that nothing
  // bounds: terms of different places are then of different groups.
  bool IsScatterByOne() const {
    const LoopPlan& plan = plans_[0];
    if (plan.mode != LoopPlan::kScatter || !plan.bounds.empty()) return false;
    int lookups = 0;
    for (const LoopStep& step : plan.steps) {
      if (step.kind == LoopStep::kGuard) return false;
      lookups += step.kind == LoopStep::kLookup ? 1 : 0;
    }
    const auto of_outputs = [&](int index) { return Controls(DefinitionOf(0), plan, index); };
    return lookups == 1 && std::none_of(plan.outer.begin(), plan.outer.end(), of_outputs) &&
           AreKnownButTheFirst(TermIndices()) && AreKnownButTheFirst(plan.outer);
  }

  // Whether threads can be shared out over these loops: devices may differ in the outermost one.
  bool AreKnownButTheFirst(const std::vector<int>& indices) const {
    return std::all_of(indices.begin() + (indices.empty() ? 0 : 1), indices.end(),
                       [&](int index) { return ExtentOf(index).value_or(0) > 0; });
  }

  // The loops over terms of a scatter.
  std::vector<int> TermIndices() const {
    std::vector<int> terms;
    for (const LoopStep& step : plans_[0].steps)
      if (step.kind == LoopStep::kLoop) terms.push_back(step.index);
    return terms;
  }

  std::vector<ThreadPlan> Scatter() {
    ThreadPlan identities;
    identities.stage = ThreadPlan::kIdentities;
    std::vector<int> outputs;
    for (int i = 0; i < static_cast<int>(DefinitionOf(0).indices.size()); ++i)
      if (!DefinitionOf(0).indices[i].reduction) outputs.push_back(i);
    identities.points = Merged(outputs, {0}, /*only_written=*/true);
    identities.lanes = WidestLanes(0, outputs.back(), /*only_written=*/true);
    if (identities.points.size() > 1)
      identities.lanes = LanesWithin(identities.lanes, identities.points.back().extent);

    plan_.stage = ThreadPlan::kPlaces;
    for (const int index : TermIndices()) plan_.points.push_back({{index}, ExtentOf(index)});
    InnerLoops inner;
    inner.loops = Merged(plans_[0].outer, {0});
    for (const int index : plans_[0].outer)
      inner.turns *= ExtentOf(index).value_or(DefinitionOf(0).indices[index].extent);
    if (!inner.loops.empty()) {
      const int last = inner.loops.back().indices.back();
      if (MayHaveLanes(0, last))
        inner.lanes = LanesWithin(WidestLanes(0, last), inner.loops.back().extent);
    }
    plan_.group = warp_;
    const int64_t each = warp_ * kMostUnrolled, chunks = inner.turns / inner.lanes;
    plan_.parts = static_cast<int>((chunks + each - 1) / each);
    plan_.inner = {std::move(inner)};
    return {identities, plan_};
  }

  absl::optional<int64_t> ExtentOf(int index) const { return strides_[0].ranges[index].extent; }

  // With too few blocks for a GPU several compute each sum.
  void ShareParts() {
    if (plan_.inner.empty()) return;
    plan_.points = Merged(PointIndices(), AllDefinitions());
    plan_.lanes = plan_.columns ? PointLanes() : 1;
    const InnerLoops& inner = plan_.inner[0];
    plan_.parts = PartsOf(inner.turns, inner.turns / inner.lanes / plan_.group);
  }

  // How many blocks compute each point, of so many turns, so many accesses a thread.
  int PartsOf(int64_t turns, int64_t accesses) const {
    const int64_t blocks = (Points() + plan_.PointsOfBlock() - 1) / plan_.PointsOfBlock();
    if (blocks >= kEnoughBlocks || turns * Points() < kLongSum) return 1;
    int64_t most = accesses / kAccessesEach;
    if (turns * Points() > kLongestSum && blocks > 0)
      most = std::max(most, std::min((kEnoughBlocks + blocks - 1) / blocks, accesses));
    const int64_t parts = std::min(2 * kEnoughBlocks / std::max<int64_t>(blocks, 1), most);
    return static_cast<int>(std::max<int64_t>(parts, 1));
  }

  // A row of few accesses is a warp's, a longer one a block's.
  void ShareAllLoops() {
    std::vector<InnerLoops> all;
    int64_t most = 0;  // accesses
    for (size_t d = 0; d < plans_.size(); ++d) {
      all.push_back(InnerOf(static_cast<int>(d)));
      most = std::max(most, all.back().turns / all.back().lanes);
    }
    if (most < warp_ / 2) return;
    plan_.inner = std::move(all);
    plan_.group = warp_;
    while (plan_.group < kMostThreads && most > kAccessesEach * plan_.group) plan_.group *= 2;
    const bool many = Points() >= kFewResults;
    if (many && most <= 2 * kAccessesEach * warp_) plan_.group = warp_;
    if (plan_.group > warp_) plan_.threads = plan_.group;
  }

  const NamedKernel& kernel_;
  const std::vector<LoopPlan>& plans_;
  const int warp_;
  const bool tiles_;
  std::vector<DefinitionStrides> strides_;  // [definition]
  std::vector<int> down_;                   // of a cluster: SumsDownColumns
  ThreadPlan plan_;
};

}  // namespace

std::vector<int64_t> ThreadPlan::Sides() const {
  if (!InTiles()) return {};
  std::vector<int64_t> sides(points.size(), 1);
  sides[tile.across] = tile.side.turns();
  sides.back() = tile.last.turns();
  return sides;
}

std::vector<ThreadPlan> PlanThreads(const NamedKernel& kernel, const std::vector<LoopPlan>& plans,
                                    const KernelTarget& target) {
  return ThreadPlanner(kernel, plans, target).Plan();
}

std::string SymbolOf(const NamedKernel& kernel, int stage) {
  return stage == 0 ? kernel.symbol : absl::StrCat(kernel.symbol, "_", stage);
}

}  // namespace yuba::kernels
