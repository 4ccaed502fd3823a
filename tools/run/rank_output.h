// What a rank prints: of several processes that do the same, one speaks for all; or each does, and
// says which it is.
#ifndef YUBA_TOOLS_RUN_RANK_OUTPUT_H_
#define YUBA_TOOLS_RUN_RANK_OUTPUT_H_

#include <iostream>
#include <memory>

namespace yuba::tools {

// While it exists, standard output and error of C++ are those of a rank: with `all`, each line
// begins with "[rank 3] " and is written at once; without, rank 0 prints as ever and others
// nothing.
class RankOutput {
 public:
  RankOutput(int rank, bool all);
  ~RankOutput();
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;

  // From here on it prints as if it were not there.
  void GiveBack();

 private:
  std::streambuf* const out_;  // as they were before
  std::streambuf* const errors_;
  std::unique_ptr<std::streambuf> own_out_, own_errors_;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RANK_OUTPUT_H_
