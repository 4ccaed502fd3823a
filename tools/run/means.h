// Numbers of several runs of an entry, as of the parts of a batch or the batches of an evaluation,
// made one.
//
// Example: losses 2, 8 and 0 with the weights 3, 1 and 0 (labels that count) are the loss 3.5 with
// the weight 4.
#ifndef YUBA_TOOLS_RUN_MEANS_H_
#define YUBA_TOOLS_RUN_MEANS_H_

#include <string>
#include <utility>
#include <vector>

namespace yuba::tools {

// Numbers of a step, such as its loss, by name.
using Numbers = std::vector<std::pair<std::string, double>>;

// The weight of the number of that name, "eval:loss_weight" of "eval:loss" (WeightNameOf of
// compiler/import/loss.h); null where `numbers` have none.
const double* WeightOf(const Numbers& numbers, const std::string& name);

// Whether the number is the weight of another one.
bool IsWeight(const Numbers& numbers, const std::string& name);

// Whether a weight among `numbers` is 0: nothing that is judged counts.
bool IsWeightless(const Numbers& numbers);

class Means {
 public:
  // The numbers of one run.
  void Add(const Numbers& numbers);

  // The mean of each over the runs that had it; of a number that has a weight by weight, and the
  // sum of its weights. One without weight in any run is NaN. In the order in which they came.
  Numbers Values() const;

 private:
  struct Sum {
    std::string name;
    double terms = 0, weights = 0;
  };
  std::vector<Sum> sums_;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_MEANS_H_
