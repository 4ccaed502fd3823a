// Schedules: a number that changes from step to step, such as a learning rate.
#ifndef YUBA_TOOLS_RUN_DATA_SCHEDULE_H_
#define YUBA_TOOLS_RUN_DATA_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace yuba::tools {

// Its number in step s, of which the first is 1:
//   constant:PEAK,warmup=W                 PEAK
//   linear:PEAK,warmup=W,steps=M,end=E     PEAK + (E - PEAK) p          with p from 0 in step W + 1
//   cosine:PEAK,warmup=W,steps=M,end=E     E + (PEAK - E) (1 + cos(pi p)) / 2      to 1 after step
//   M
// In the first W steps it is PEAK s / (W + 1), so that step W + 1 is the first to have PEAK; after
// step M it is E. W and E are 0 where they are left out. A list has a number for each step; the
// last one holds on.
//
//   YUBA_ASSIGN_OR_RETURN(const Schedule lr, ReadSchedule("cosine:1e-3,warmup=100,steps=1000"));
//   lr.At(101)   // 0.001
class Schedule {
 public:
  enum class Shape { kConstant, kLinear, kCosine };

  double At(int64_t step) const;  // of a step from 1 on

  // The same number in all steps.
  static Schedule Constant(double number);
  // What ReadSchedule reads, to the last bit: "0.01", "cosine:0.001,warmup=100,steps=1000", of a
  // list "list:0.1,0.05".
  std::string Text() const;

 private:
  friend absl::StatusOr<Schedule> ReadSchedule(const std::string& text);
  absl::Status ReadShape(const std::string& text);
  absl::Status ReadList(const std::string& file, const std::string& text);
  absl::Status ReadTextList(const std::string& text);

  Shape shape_ = Shape::kConstant;
  double peak_ = 0, end_ = 0;
  int64_t warmup_ = 0, steps_ = 0;
  std::vector<double> list_;  // of each step; empty: by the formula
};

// A schedule of the user's: a number, which holds in all steps; a text as above, or as Text gives
// it; or else the name of a file with a number a line. Numbers are finite and not below 0. A user's
// error, which says what is wrong with which part, or which line of the file.
absl::StatusOr<Schedule> ReadSchedule(const std::string& text);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_DATA_SCHEDULE_H_
