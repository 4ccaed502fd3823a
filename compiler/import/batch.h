// What is the batch: which dimension of each input counts the examples of a step. Whoever needs it
// asks here: --batch, --micro-batches, pins, and a run that takes its examples from arrays.
//
// It is, in this order, what --batch-dim says; the dimensions that the file calls "batch",
// "batch_size" or the like; or else the one dimension that inputs and labels have in common, or
// without training inputs and outputs, and along which no node before the loss does anything: it
// adds up nothing along it, shifts or cuts nothing, and no weight has it. Dimensions are followed
// through the definitions of all nodes (factors/dim_flows.h), so what merely has as many rows as
// the batch has examples, as a mask or a table of positions, is not the batch. Losses and batch
// norms are meant to add up over it.
//
// Example: of an LSTM x[time, batch, in] with labels [time, batch, out], time is taken step by
// step, so dimension 1 of both is the batch. Of y = relu(x) both may be: --batch-dim decides.
#ifndef YUBA_COMPILER_IMPORT_BATCH_H_
#define YUBA_COMPILER_IMPORT_BATCH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/import/factors/dim_flows.h"
#include "compiler/import/file/file_graph.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/options.h"
#include "compiler/model.h"

namespace yuba::onnx {

// How messages end where the batch is not known.
constexpr char kSayWhich[] = "; say which by --batch-dim NAME or --batch-dim INPUT:DIMENSION";

// Whether the name means a batch: "batch", "batch_size", "BatchSize".
bool MeansBatch(const std::string& dim_name);

// The dimensions of inputs that have no length: the name of an input and the dimension, and the
// file's symbol for it. A dimension 0 without a name has the empty one.
using OpenDims = std::map<std::pair<std::string, int>, std::string>;

// Those for which neither the file nor `dims`, the lengths of symbols, has one, of inputs that are
// read and not bound.
OpenDims FindOpenDims(const FileGraph& order, const ImportOptions& options,
                      const std::map<std::string, int64_t>& dims);

// `dims` with lengths for the open ones at which the entry can be read to find its batch: that of
// --batch, or, where what the batch is must be seen and --batch is 1, another.
std::map<std::string, int64_t> WithTrial(const OpenDims& open, const ImportOptions& options,
                                         std::map<std::string, int64_t> dims);

// The user's error where the entry cannot be read at those lengths, for which it failed so.
absl::Status WhyNoTrial(const absl::Status& failed, const OpenDims& open,
                        const ImportOptions& options);

// The batch of one entry.
struct Batch {
  // Of each input that has it, labels too: the number of its value, and the dimension. Where the
  // batch is not known for sure, the first that may be it.
  std::vector<std::pair<int, int>> dims;
  int64_t examples = 0;  // in a step of the entry, as the graph is; 0 where there is no batch
  std::string known_by;  // for a message: "as the file names it"
  absl::Status sure;     // the user's error where it is not known, which says what may be given
  // Dimensions of the finder's DimFlows: all that are the batch, of several factors the outermost,
  // and those of inputs in which it is not the outermost factor.
  std::set<int> all, outermost;
  std::vector<std::pair<int, int>> inside;
};

class BatchFinder {
 public:
  // `graph` is whole: all its uses and outputs are there. Both must outlive the finder. `open` are
  // the dimensions that had no length before --batch: where several dimensions may be the batch and
  // one of them is open, it is that.
  BatchFinder(const OnnxGraph& graph, const ImportOptions& options, OpenDims open = {});

  // The batch of an entry. The user's error where --batch-dim is malformed or names nothing.
  absl::StatusOr<Batch> Find(int entry) const;

  // Whether all that is the batch had no length.
  bool IsOpen(const Batch& batch) const;

  // The user's error where the batch is not known, or where a step of so many examples in `parts`
  // would not be the step of the whole batch, with the node that is the cause: it adds up along the
  // batch, say.
  absl::Status CheckCut(const Batch& batch, int64_t examples, int64_t parts) const;

  // `dims`, the lengths of symbols, with --batch as the length of those open ones that are the
  // batch. The user's error where --dim gives one of the batch's another length.
  absl::StatusOr<std::map<std::string, int64_t>> Lengths(const Batch& batch,
                                                         std::map<std::string, int64_t> dims) const;

  // What the values of the entry that translation is at become with `examples` in a step: those
  // that have the batch, by their names in the file. Stored values, as the first states of a
  // recurrence, must be the same for all examples. The user's error where they are not, where a
  // node reads only some of the examples, or where the batch has no such parts.
  absl::StatusOr<std::map<std::string, ValueAtBatch>> At(const Batch& batch,
                                                         int64_t examples) const;

  // Lines for people: which inputs have the batch, which have not, and whether there are statistics
  // of a batch, which are those of its parts.
  std::vector<std::string> Notes(const Batch& batch, int entry, int64_t examples,
                                 int64_t parts) const;

 private:
  using Dim = std::pair<int, int>;  // number of a value, dimension

  std::vector<int> FlowsOf(Dim dim) const;  // numbers of flows_, outermost factor first
  std::string Text(Dim dim) const;
  std::string LabelOf(NodeId node) const;
  std::vector<int> InputsOf(int entry) const;
  absl::StatusOr<std::vector<Dim>> Given(int entry) const;
  std::vector<Dim> Named(int entry) const;
  std::vector<Dim> Candidates(int entry) const;
  std::string WhyNot(Dim dim) const;
  bool IsOpen(Dim dim) const;
  void Infer(int entry, Batch& batch) const;
  void Spread(int entry, Batch& batch) const;
  void AddDim(Dim dim, Batch& batch) const;
  void AddOnes(int entry, Batch& batch) const;
  bool AddSymbols(int entry, Batch& batch) const;
  void Count(Batch& batch) const;
  std::vector<bool> HasAlong(int value, const std::set<int>& along) const;
  std::string WhyStored(int value, const std::set<int>& along) const;

  const OnnxGraph& graph_;
  const ImportOptions& options_;
  const OpenDims open_;
  compiler::Model model_;
  std::vector<TensorId> tensor_of_;  // [value]
  std::unique_ptr<const DimFlows> flows_;
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_BATCH_H_
