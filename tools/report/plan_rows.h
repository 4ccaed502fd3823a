// What the parts of the plan report share.
#ifndef YUBA_TOOLS_REPORT_PLAN_ROWS_H_
#define YUBA_TOOLS_REPORT_PLAN_ROWS_H_

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

#include "search/file/plan_file.h"

namespace yuba::tools {

using TensorMap = std::unordered_map<std::string, const search::PlanFile::TensorRow*>;
TensorMap ByName(const search::PlanFile& plan);

// The sharding with the sizes left out, so that layers of different width look alike.
std::string SplitOf(const search::PlanFile& plan, const search::PlanFile::TensorRow& row);

// The names of all tensors that are weights, or copies of weights.
std::set<std::string> Weights(const search::PlanFile& plan);

// "layer3.*.conv" of "layer3.12.conv" and its like: every run of digits is a star.
std::string NamePattern(const std::string& name);
std::string ShortName(const std::string& name);  // its last 40 characters at most

// Bytes of what is stored, by the number of devices.
int64_t IdealShare(const search::PlanFile& plan);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_PLAN_ROWS_H_
