// Numbers of several runs of an entry, as of the parts of a batch or the batches of an evaluation,
// made one.
//
// Example: losses 2, 8 and 0 with the weights 3, 1 and 0 (labels that count) are the loss 3.5 with
// the weight 4.
#ifndef YUBA_TOOLS_RUN_MEANS_H_
#define YUBA_TOOLS_RUN_MEANS_H_

#include <string>
#include <vector>

namespace yuba::tools {

// A number of a step, such as its loss.
struct Number {
  std::string name;
  double value = 0;
  std::string weight_of;  // of a weight: the name of the number by which it counts; else empty
};
using Numbers = std::vector<Number>;

// The weight of the number of that name, 3 of "loss"; null where `numbers` have none.
const double* WeightOf(const Numbers& numbers, const std::string& name);

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
    Number number;
    double terms = 0, weights = 0;
  };
  std::vector<Sum> sums_;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_MEANS_H_
