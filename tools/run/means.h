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

// Whether the number is the weight of a loss (compiler/import/loss.h), "loss_weight" or
// "eval:loss_weight".
bool IsLossWeight(const std::string& name);

// Whether it is a loss that may have one.
bool IsLoss(const std::string& name);

// Whether `numbers` have a loss whose weight is 0: nothing that it judges counts.
bool IsWeightless(const Numbers& numbers);

class Means {
 public:
  // The numbers of one run.
  void Add(const Numbers& numbers);

  // The mean of each over the runs that had it; of a loss that has a weight by weight, and the sum
  // of its weights. A loss without weight in any run is NaN. In the order in which they came.
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
