#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cublas_lt_joint.h"

#include <vector>

namespace yuba::cuda {
namespace {

using runtime::StridedIndex;

class Joint {
 public:
  Joint(const LibrarySite& site, const runtime::ProductPlan& plan)
      : site_(site),
        call_(site.joint->call),
        plan_(plan),
        result_(site.joint->other.results(0)),
        box_(site.program.BufferBox(result_.buffer(), site.device)),
        strides_(runtime::DenseStrides(box_)) {}

  absl::optional<LtJoint> Make() const {
    LtJoint joint;
    joint.kind = call_.kind();
    const Box written = site_.program.BoxOf(result_.box(), site_.device);
    for (size_t d = 0; d < box_.size(); ++d)
      joint.first += (written[d].begin - box_[d].begin) * strides_[d];
    if (call_.kind() != program::JointCall::OPERAND_SUMS) {
      bool alike = LiesLikeResult(result_);
      if (call_.kind() == program::JointCall::SLOPE)
        alike = alike && LiesLikeResult(site_.joint->other.operands(call_.operand()));
      return alike ? absl::make_optional(joint) : absl::nullopt;
    }
    const bool of_left = call_.operand() == site_.left();
    joint.of_a = of_left != plan_.swapped;
    return MaySum(of_left) ? absl::make_optional(joint) : absl::nullopt;
  }

 private:
  // One call, of all rows and columns, has all sums of an operand, in which they are contiguous.
  bool MaySum(bool of_left) const {
    if (!plan_.loops.empty() || !plan_.sums.empty() || site_.left() == site_.right()) return false;
    const auto& role = of_left ? site_.call().rows() : site_.call().columns();
    std::vector<StridedIndex> side = of_left ? site_.shape.all_rows : site_.shape.all_columns;
    for (int i = 0; i < role.size(); ++i) side[i].post = {StrideOf(role[i].index())};
    side = runtime::MergeIndices(side);
    return side.empty() || (side.size() == 1 && side[0].post[0] == 1);
  }

  // Of an index of the product, in the second result.
  int64_t StrideOf(int index) const {
    for (int d = 0; d < call_.indices_size(); ++d)
      if (call_.indices(d) == index) return strides_[d];
    return 0;
  }

  // What the call makes or reads lies as the product's own result would.
  bool LiesLikeResult(const program::Access& access) const {
    const program::Access& own = site_.kernel.results(0);
    if (plan_.c.packed || !plan_.sums.empty() ||
        site_.program.type(own.buffer()) != site_.program.type(access.buffer()) ||
        site_.program.BufferBox(own.buffer(), site_.device) !=
            site_.program.BufferBox(access.buffer(), site_.device) ||
        site_.program.BoxOf(own.box(), site_.device) !=
            site_.program.BoxOf(access.box(), site_.device))
      return false;
    for (const auto* role :
         {&site_.call().batch(), &site_.call().rows(), &site_.call().columns()}) {
      for (const program::LibraryIndex& index : *role)
        if (index.result_dim() >= 0 && call_.indices(index.result_dim()) != index.index())
          return false;
    }
    return true;
  }

  const LibrarySite& site_;
  const program::JointCall& call_;
  const runtime::ProductPlan& plan_;
  const program::Access& result_;
  const Box box_;
  const std::vector<int64_t> strides_;
};

}  // namespace

absl::optional<LtJoint> JointOf(const LibrarySite& site, const runtime::ProductPlan& plan) {
  return Joint(site, plan).Make();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
