#include "opsemantics/regions/boxes.h"

#include <algorithm>

#include "opsemantics/base/check.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/bounds.h"
#include "opsemantics/regions/conditions.h"
#include "opsemantics/regions/value_tables.h"

namespace yuba {

// A ReadSite, prepared.
struct BoxAnalysis::Read {
  int operand = 0;
  std::vector<Affine> position;
  std::vector<Conjunction> when;  // the definition's constraints are in each
};

BoxAnalysis::BoxAnalysis(const Definition& definition)
    : BoxAnalysis(definition, ReadSites(definition)) {}

BoxAnalysis::BoxAnalysis(const Definition& definition, const std::vector<ReadSite>& reads)
    : definition_(&definition), written_(KnownConditions(definition)) {
  written_.insert(written_.begin(), definition.where.begin(), definition.where.end());
  for (const ReadSite& site : reads) {
    Read read = {site.read->operand, site.read->position, site.when};
    for (Conjunction& conjunction : read.when) {
      conjunction.insert(conjunction.end(), definition.where.begin(), definition.where.end());
    }
    reads_.push_back(std::move(read));
  }
}

BoxAnalysis::~BoxAnalysis() = default;

namespace {

bool ReducesWhole(const Definition& definition, const std::vector<Interval>& ranges) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Index& index = definition.indices[i];
    if (index.reduction && ranges[i] != Interval{0, index.extent}) return false;
  }
  return true;
}

Box RangeBox(const std::vector<Affine>& position, const std::vector<Interval>& ranges) {
  Box box(position.size());
  for (size_t d = 0; d < position.size(); ++d) box[d] = Range(position[d], ranges);
  return box;
}

// The box of `position` over the points of `ranges` where `conjunction` holds.
Box BoxWhere(const std::vector<Affine>& position, const Conjunction& conjunction,
             const std::vector<Interval>& ranges) {
  const bool everywhere =
      std::all_of(conjunction.begin(), conjunction.end(),
                  [&ranges](const Constraint& constraint) { return Holds(constraint, ranges); });
  if (everywhere) return RangeBox(position, ranges);
  const PointSet points(conjunction, ranges);
  Box box(position.size());
  for (size_t d = 0; d < position.size(); ++d) box[d] = points.Hull(position[d]);
  return box;
}

// What a part writes: it has terms where all of `where` hold, and `consistent` is what the
// definition's constraints leave of its ranges.
Box WriteBox(const Definition& definition, const std::vector<Interval>& ranges,
             const std::vector<Constraint>& where, const std::vector<Interval>& consistent) {
  if (ReducesWhole(definition, ranges)) return RangeBox(definition.left, ranges);
  Box box = BoxWhere(definition.left, where, consistent);
  for (size_t d = 0; d < box.size(); ++d) {  // no loop runs along a constant: it is always written
    const Affine& position = definition.left[d];
    if (position.IsConstant()) box[d] = {position.constant, position.constant + 1};
  }
  return box;
}

}  // namespace

Boxes BoxAnalysis::Analyze(const std::vector<Interval>& ranges) const {
  YUBA_CHECK(ranges.size() == definition_->indices.size()) << definition_->name;
  Boxes boxes;
  boxes.indices = ranges;
  const bool possible = Propagate(definition_->where, boxes.indices);
  if (!possible) boxes.indices.assign(ranges.size(), Interval{0, 0});
  boxes.writes = WriteBox(*definition_, ranges, written_, boxes.indices);
  for (size_t i = 0; i < definition_->operands.size(); ++i) {
    boxes.reads.push_back(ReadBox(static_cast<int>(i), possible, boxes.indices));
  }
  return boxes;
}

Box BoxAnalysis::AnalyzeOne(const std::vector<Interval>& ranges, int operand) const {
  YUBA_CHECK(ranges.size() == definition_->indices.size()) << definition_->name;
  std::vector<Interval> consistent = ranges;
  const bool possible = Propagate(definition_->where, consistent);
  if (!possible) consistent.assign(ranges.size(), Interval{0, 0});
  return operand < 0 ? WriteBox(*definition_, ranges, written_, consistent)
                     : ReadBox(operand, possible, consistent);
}

Box BoxAnalysis::ReadBox(int operand, bool possible,
                         const std::vector<Interval>& consistent) const {
  Box box(definition_->operands[operand].dims.size(), Interval{0, 0});
  for (const Read& read : reads_) {
    if (read.operand != operand || !possible) continue;
    for (const Conjunction& conjunction : read.when) {
      box = Hull(box, BoxWhere(read.position, conjunction, consistent));
    }
  }
  return box;
}

Boxes AnalyzeBoxes(const Definition& definition, const std::vector<Interval>& ranges) {
  return BoxAnalysis(definition).Analyze(ranges);
}

std::vector<Interval> WholeRanges(const Definition& definition) {
  std::vector<Interval> ranges;
  ranges.reserve(definition.indices.size());
  for (const Index& index : definition.indices) ranges.push_back({0, index.extent});
  return ranges;
}

std::vector<int> CuttableIndices(const Definition& definition) {
  const bool partials = !IsArgReducer(definition.reducer);
  std::vector<int> cuttable;
  for (size_t i = 0; i < definition.indices.size(); ++i) {
    const Index& index = definition.indices[i];
    const bool possible = IsOpaque(definition) ? MayBeCut(definition, static_cast<int>(i))
                                               : partials || !index.reduction;
    if (index.extent >= 2 && possible) cuttable.push_back(i);
  }
  return cuttable;
}

}  // namespace yuba
