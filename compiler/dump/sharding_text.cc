#include "compiler/dump/sharding_text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/dump/table_text.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

// "12/bc"
absl::Status ParseFactor(const Mesh& mesh, absl::string_view text, FactoredSharding& sharding) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('/', 1));
  int64_t extent = 0;
  if (!absl::SimpleAtoi(parts.first, &extent) || extent < 0) {
    return UserError("an extent expected at '", text, "'");
  }
  YUBA_ASSIGN_OR_RETURN(AxisList axes, ParseAxes(mesh, parts.second));
  sharding.dims.back().push_back(extent);
  sharding.sharding.axes.push_back(std::move(axes));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FactoredSharding> ParseSharding(const Mesh& mesh, absl::string_view text) {
  FactoredSharding sharding;
  const absl::string_view whole = text;
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) {
    return UserError("'[' and ']' expected round '", whole, "'");
  }
  if (text.empty()) return sharding;
  for (absl::string_view dim : absl::StrSplit(text, ", ")) {
    sharding.dims.emplace_back();
    if (absl::ConsumePrefix(&dim, "(") && !absl::ConsumeSuffix(&dim, ")")) {
      return UserError("')' expected in '", whole, "'");
    }
    for (absl::string_view factor : absl::StrSplit(dim, ' ', absl::SkipEmpty())) {
      YUBA_RETURN_IF_ERROR(ParseFactor(mesh, factor, sharding));
    }
  }
  return sharding;
}

std::string PartitionText(const Mesh& mesh, const std::vector<Index>& indices,
                          const Partition& partition) {
  std::string text;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (partition.axes[i].empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : " ", indices[i].name, "/",
                    AxesText(mesh, partition.axes[i]));
  }
  return text;
}

absl::StatusOr<Partition> ParsePartition(const Mesh& mesh, const std::vector<Index>& indices,
                                         absl::string_view text) {
  Partition partition;
  partition.axes.resize(indices.size());
  size_t next = 0;  // names need not be distinct, their order is the indices'
  for (absl::string_view part : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const size_t slash = part.rfind('/');
    if (slash == absl::string_view::npos)
      return UserError("a partition like m/ab expected at '", part, "'");
    while (next < indices.size() && indices[next].name != part.substr(0, slash)) ++next;
    if (next == indices.size()) return UserError("no index for '", part, "' of '", text, "'");
    YUBA_ASSIGN_OR_RETURN(partition.axes[next++], ParseAxes(mesh, part.substr(slash + 1)));
  }
  return partition;
}

}  // namespace yuba::compiler
