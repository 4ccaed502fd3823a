// Batches: the values of an entry's inputs in each step, read when their step comes, so that a run
// holds two batches at a time, however many there are.
#ifndef YUBA_TOOLS_RUN_DATA_BATCHES_H_
#define YUBA_TOOLS_RUN_DATA_BATCHES_H_

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba::tools {

// What outputs should be; [output], empty without --expect.
using Expected = std::vector<absl::optional<TensorData>>;

// What is read for one step.
struct StepFiles {
  struct Input {
    std::string name, file;
    TensorData value;
  };
  std::vector<Input> inputs;
  Expected expected;
};

// A place in the data of a run: behind so many whole epochs, and so many examples, or folders, of
// the next one.
struct Position {
  int64_t epoch = 0, seen = 0;
};

// Steps, which are numbered from 0 on through all epochs, take what follows in the order of an
// epoch; what fills no batch at its end is left out.
class Batches {
 public:
  virtual ~Batches() = default;
  virtual int64_t count() const = 0;    // examples, or folders, that there are
  virtual int64_t in_step() const = 0;  // that a step takes; at most count()
  int64_t in_epoch() const { return count() / in_step(); }

  // Steps from `step` on go on at `at`, where a run was that may have had other batches.
  void GoOn(int64_t step, Position at);
  // Where the batch of a step begins, of those from GoOn on.
  Position At(int64_t step) const;
  // Where the data is after so many steps.
  Position After(int64_t steps) const;
  // How many steps end so many epochs.
  int64_t StepsUntil(int64_t epochs) const;

  // The inputs that the first batch gives values to.
  virtual std::vector<std::string> names() const = 0;
  // For people: what there is, and what of it an epoch leaves out.
  virtual std::string Describe() const = 0;
  // Reads the batch of a step. The same step has the same values whatever was read before. Used by
  // one thread at a time. A user's error, which names the file, where it cannot be read.
  virtual absl::StatusOr<StepFiles> Read(int64_t step) = 0;
  // By what the data is known again (data_print.h): a text for each input, or for all.
  virtual absl::StatusOr<std::map<std::string, std::string>> Prints() const = 0;

 private:
  int64_t StepsLeftInEpoch() const;  // of the epoch at at_

  int64_t step_ = 0;  // of GoOn
  Position at_;
};

// The order in which epochs take 0 .. count - 1: ascending, or by a seed, which gives each epoch an
// order of its own. It follows from count, seed and epoch alone, on any machine. Takes 8 bytes for
// each of them where there is a seed.
//
//   EpochOrder order(3, 7);
//   order.At(0, 0), order.At(0, 1), order.At(0, 2)   // 0, 1 and 2 in some order
class EpochOrder {
 public:
  EpochOrder(int64_t count, absl::optional<uint64_t> seed) : count_(count), seed_(seed) {}
  int64_t At(int64_t epoch, int64_t position);

 private:
  const int64_t count_;
  const absl::optional<uint64_t> seed_;
  int64_t epoch_ = -1;  // of order_
  std::vector<int64_t> order_;
};

// Hands out the batches of steps that follow each other; while one is used, a thread reads the
// next. `batches` must outlive it.
class BatchReader {
 public:
  // Of the steps [begin, end).
  BatchReader(Batches& batches, int64_t begin, int64_t end);

  // The batch of the next step; at most one for each.
  absl::StatusOr<StepFiles> Next();

 private:
  void Start();

  Batches& batches_;
  int64_t at_;
  const int64_t end_;
  std::future<absl::StatusOr<StepFiles>> next_;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_DATA_BATCHES_H_
