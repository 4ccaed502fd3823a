#include "opsemantics/elaborate/pack_ranks.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

class RankSolver {
 public:
  RankSolver(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
             Extents& extents)
      : op_(op), operands_(operands), extents_(extents) {}

  absl::Status Run() {
    bool progress = true;
    while (progress) {
      progress = false;
      for (size_t i = 0; i < operands_.size(); ++i) {
        if (!operands_[i]) continue;
        YUBA_ASSIGN_OR_RETURN(const bool changed, RankFrom(i));
        progress = progress || changed;
      }
      // Packs that are only ever broadcast have the largest rank of all operands.
      if (!progress) progress = BroadcastRank();
    }
    for (const Param& param : op_.params) {
      if (!operands_[&param - op_.params.data()]) continue;
      for (const Dim& dim : param.dims) {
        if (RankOf(extents_, dim) >= 0) {
          YUBA_RETURN_IF_ERROR(SameRanks(dim));
          continue;
        }
        const std::string& name =
            dim.element().kind == Syntax::kName ? dim.element().name : dim.element().args[0]->name;
        return Error(dim.range, absl::StrCat("how many dimensions '", name,
                                             "..' has cannot be told "
                                             "from the operands; give the attribute '",
                                             name, "' as the list of its extents"));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Error(const SourceRange& range, absl::string_view message) const {
    return SourceError(*op_.source, range, message);
  }

  void SetRank(const Dim& dim, int rank) {
    ForEachName(dim, [&](const Syntax& name) {
      Extent& extent = extents_.at(name.name);
      if (extent.rank < 0) Resize(extent, rank);
    });
  }

  // (g c).. zips packs of equal rank.
  absl::Status SameRanks(const Dim& dim) const {
    absl::Status status;
    ForEachName(dim, [&](const Syntax& name) {
      const int rank = extents_.at(name.name).rank;
      if (rank == RankOf(extents_, dim) || !status.ok()) return;
      status = Error(dim.range, absl::StrCat("'", name.name, "' has ", rank, " elements, but ",
                                             RankOf(extents_, dim), " are needed here"));
    });
    return status;
  }

  absl::StatusOr<bool> RankFrom(size_t operand) {
    const Param& param = op_.params[operand];
    const Dim* unknown = nullptr;
    int known = 0;
    for (const Dim& dim : param.dims) {
      const int rank = RankOf(extents_, dim);
      if (dim.pack() && dim.broadcast) return false;
      if (rank >= 0) {
        known += rank;
        SetRank(dim, rank);
      } else if (unknown == nullptr) {
        unknown = &dim;
      } else {
        return false;
      }
    }
    if (unknown == nullptr) return false;
    const int rank = static_cast<int>(operands_[operand]->dims.size()) - known;
    if (rank < 0) return RankError(op_, operands_, operand);
    SetRank(*unknown, rank);
    return true;
  }

  bool BroadcastRank() {
    std::map<std::string, int> largest;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (!operands_[i]) continue;
      const Dim* unknown = nullptr;
      int known = 0, unknowns = 0;
      for (const Dim& dim : op_.params[i].dims) {
        const int rank = RankOf(extents_, dim);
        if (rank >= 0) {
          known += rank;
        } else {
          unknown = &dim;
          ++unknowns;
        }
      }
      if (unknowns != 1 || !unknown->broadcast) continue;
      int& rank = largest[unknown->element().name];
      rank = std::max(rank, static_cast<int>(operands_[i]->dims.size()) - known);
    }
    for (const auto& [name, rank] : largest) Resize(extents_.at(name), rank);
    return !largest.empty();
  }

  const OpDescription& op_;
  const std::vector<absl::optional<Shape>>& operands_;
  Extents& extents_;
};

}  // namespace

void Resize(Extent& extent, int rank) {
  extent.rank = rank;
  extent.elements.resize(rank);
  extent.from.resize(rank);
}

int RankOf(const Extents& extents, const Dim& dim) {
  if (!dim.pack()) return 1;
  int rank = -1;
  ForEachName(dim, [&](const Syntax& name) { rank = std::max(rank, extents.at(name.name).rank); });
  return rank;
}

absl::Status SolveRanks(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
                        Extents& extents) {
  return RankSolver(op, operands, extents).Run();
}

std::string ShapeText(const Shape& shape) {
  return absl::StrCat(Name(shape.type), "[", absl::StrJoin(shape.dims, ", "), "]");
}

std::string OperandText(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
                        size_t operand) {
  const std::string& name = op.params[operand].name;
  return absl::StrCat("operand '", name, "' (", ShapeText(*operands[operand]), ")");
}

absl::Status RankError(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
                       size_t operand) {
  return SourceError(
      *op.source, op.params[operand].range,
      absl::StrCat(OperandText(op, operands, operand), " has ", operands[operand]->dims.size(),
                   " dimensions, which does not fit what is written here"));
}

}  // namespace yuba
