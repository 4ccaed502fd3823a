// What the files of the plan report share: look-ups and names, from the plan file.
#ifndef YUBA_TOOLS_REPORT_PLAN_ROWS_H_
#define YUBA_TOOLS_REPORT_PLAN_ROWS_H_

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

#include "search/file/plan_file.h"

namespace yuba::tools {

// Rows of the plan by the tensors' names; pointers into `plan`.
using TensorMap = std::unordered_map<std::string, const search::PlanFile::TensorRow*>;
TensorMap ByName(const search::PlanFile& plan);

// A sharding without sizes and axes, "dim 0 in 2 × dim 1 in 4", so that layers of different width
// look alike; "whole" where nothing is cut.
std::string SplitOf(const search::PlanFile& plan, const search::PlanFile::TensorRow& row);

// The names of all tensors that are weights, or copies of weights.
std::set<std::string> Weights(const search::PlanFile& plan);

// "layer*.*.conv" of "layer3.12.conv": every run of digits is a star.
std::string NamePattern(const std::string& name);
// The pattern of a name and of a name or pattern that differs from it in digits only: the runs that
// differ are stars. "b.*.f1" of "b.0.f1" and "b.3.f1".
std::string CommonPattern(const std::string& a, const std::string& b);
std::string ShortName(
    const std::string& name);  // its last 39 bytes after "…", where it has over 40

// The device with the highest peak, the first of several; 0 where the file says nothing of memory.
int FullestDevice(const search::PlanFile& plan);

// The bytes of all stored tensors, each once, divided by the number of devices.
int64_t IdealShare(const search::PlanFile& plan);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_PLAN_ROWS_H_
