#include "compiler/spmd/recognise.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/spmd/tables.h"
#include "opsemantics/base/collectives.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {
namespace {

using Axes = std::vector<int>;
// The devices whose coordinates are 0 on all axes other than these, one for each combination of
// coordinates on these.
std::vector<int> DevicesAlong(const Mesh& mesh, const Axes& axes) {
  std::vector<int> devices = {0};
  int stride = 1;
  for (int axis = static_cast<int>(mesh.axes.size()); axis-- > 0;) {
    const int size = mesh.axes[axis].size;
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) {
      const size_t before = devices.size();
      for (size_t i = before; i < before * size; ++i) {
        devices.push_back(devices[i - before] + stride);
      }
    }
    stride *= size;
  }
  return devices;
}

Axes OtherAxes(const Mesh& mesh, const Axes& axes) {
  Axes others;
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) others.push_back(axis);
  }
  return others;
}

class Recogniser {
 public:
  Recogniser(const Mesh& mesh, program::Exchange& exchange)
      : mesh_(mesh),
        exchange_(exchange),
        from_(BoxesOn(mesh, exchange.from())),
        to_(BoxesOn(mesh, exchange.to())) {}

  void Mark() {
    if (exchange_.from_first_only() || exchange_.has_group()) return;
    if (exchange_.partials() == 1 && IsLocal()) return;
    for (const Axes& axes : Candidates()) {
      if (MarkOver(axes)) return;
    }
  }

 private:
  bool IsLocal() const {
    for (size_t device = 0; device < from_.size(); ++device) {
      if (!Contains(from_[device], to_[device])) return false;
    }
    return true;
  }

  void AddAxes(const program::Bound& bound, std::set<int>& axes) const {
    axes.insert(bound.axes().begin(), bound.axes().end());
  }

  // The subsets of the axes on which the exchange depends, small ones first, so that a smallest set
  // of axes over which something moves is found.
  std::vector<Axes> Candidates() const {
    std::set<int> used;
    for (const program::Box* box : {&exchange_.from(), &exchange_.to()}) {
      for (const program::Range& range : box->dims()) {
        AddAxes(range.begin(), used);
        AddAxes(range.end(), used);
      }
    }
    AddAxes(exchange_.partial(), used);
    const Axes axes(used.begin(), used.end());
    std::vector<Axes> subsets;
    for (uint32_t bits = 1; bits < (uint32_t{1} << axes.size()); ++bits) {
      subsets.emplace_back();
      for (size_t i = 0; i < axes.size(); ++i) {
        if (bits >> i & 1) subsets.back().push_back(axes[i]);
      }
    }
    std::stable_sort(subsets.begin(), subsets.end(),
                     [](const Axes& a, const Axes& b) { return a.size() < b.size(); });
    return subsets;
  }

  // Marks the exchange as the first collective that every group over these axes matches; false
  // where there is none.
  bool MarkOver(const Axes& axes) {
    const std::vector<int> along = DevicesAlong(mesh_, axes);
    const bool combines = exchange_.partials() > 1;
    if (combines && static_cast<int>(along.size()) != exchange_.partials()) return false;
    std::vector<const Collective*> left;
    for (const Collective& row : Collectives()) {
      if (row.combines == combines) left.push_back(&row);
    }
    for (const int first : DevicesAlong(mesh_, OtherAxes(mesh_, axes))) {
      CollectiveSides sides;
      for (const int offset : along) {
        const int device = first + offset;
        sides.from.push_back(&from_[device]);
        sides.to.push_back(&to_[device]);
        if (combines) sides.partials.insert(ValueOn(mesh_, exchange_.partial(), device));
      }
      left.erase(std::remove_if(left.begin(), left.end(),
                                [&](const Collective* row) { return !row->matches(sides); }),
                 left.end());
      if (left.empty()) return false;
    }
    exchange_.set_collective(CollectiveNumber(left[0]->name));
    exchange_.mutable_axes()->Add(axes.begin(), axes.end());
    return true;
  }

  const Mesh& mesh_;
  program::Exchange& exchange_;
  const std::vector<Box> from_, to_;
};

// All that a mark depends on.
std::string BoxesOf(const program::Exchange& exchange) {
  program::Exchange boxes;
  *boxes.mutable_from() = exchange.from();
  *boxes.mutable_to() = exchange.to();
  *boxes.mutable_partial() = exchange.partial();
  boxes.set_partials(exchange.partials());
  boxes.set_from_first_only(exchange.from_first_only());
  if (exchange.has_group()) boxes.mutable_group();
  return boxes.SerializeAsString();
}

}  // namespace

void RecogniseCollectives(program::Program& program) {
  const Mesh mesh = MeshOf(program);
  std::unordered_map<std::string, const program::Exchange*> marked;  // by BoxesOf
  for (program::Instruction& instruction : *program.mutable_instructions()) {
    if (!instruction.has_exchange()) continue;
    program::Exchange& exchange = *instruction.mutable_exchange();
    const auto [like, is_new] = marked.emplace(BoxesOf(exchange), &exchange);
    if (is_new) {
      Recogniser(mesh, exchange).Mark();
    } else {
      exchange.set_collective(like->second->collective());
      *exchange.mutable_axes() = like->second->axes();
    }
  }
}

}  // namespace yuba::compiler
