// ReadEntryAtBatch and NoteBatch of entry_at_batch.h.
#include "compiler/import/entry_at_batch.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/import/batch.h"
#include "compiler/import/batch_changes.h"
#include "compiler/import/loss.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

using ValuesAtBatch = std::map<std::string, ValueAtBatch>;

struct FoundBatch {
  std::unique_ptr<const BatchFinder> finder;  // of graph_ as it was read for that
  Batch batch;
  std::map<std::string, ValueAtBatch> ones;  // inputs with a batch of one, as they were read
};

class BatchReader {
 public:
  BatchReader(const OrderedFile& file, const ImportOptions& options, const EntryCaches& caches,
              OnnxGraph& graph)
      : file_(file),
        options_(options),
        caches_(caches),
        parts_(options.train.has_value() ? options.train->micro_batches : 1),
        graph_(graph),
        before_(graph) {}

  absl::Status Read(const DimLengths& given) {
    YUBA_ASSIGN_OR_RETURN(const FoundBatch found, FindBatch(given));
    const BatchFinder& finder = *found.finder;
    const Batch& batch = found.batch;
    const int64_t examples = options_.batch.value_or(batch.examples);
    YUBA_RETURN_IF_ERROR(finder.CheckCut(batch, examples, parts_));
    YUBA_ASSIGN_OR_RETURN(const DimLengths dims, finder.Lengths(batch, given));
    std::map<std::string, int> dims_of_inputs;
    for (const auto& [input, dim] : batch.dims) dims_of_inputs[graph_.values[input].name] = dim;
    const std::vector<std::string> notes = finder.Notes(batch, graph_.entry, examples, parts_);
    ValuesAtBatch at_batch = found.ones;
    // Where the file leaves the length open, all else follows from that by itself.
    const bool follows = parts_ == 1 && finder.IsOpen(batch);
    const bool changes = examples / parts_ != batch.examples;
    if (!follows && (changes || !at_batch.empty())) {
      YUBA_ASSIGN_OR_RETURN(ValuesAtBatch other, finder.At(batch, examples / parts_));
      if (changes) at_batch = std::move(other);
    }
    if (parts_ > 1) {
      YUBA_ASSIGN_OR_RETURN(const ValuesAtBatch part,
                            finder.At(batch, changes ? examples / parts_ : examples));
      YUBA_RETURN_IF_ERROR(CheckParts(dims, part));
    }
    YUBA_RETURN_IF_ERROR(Translate(dims, at_batch, false));
    YUBA_RETURN_IF_ERROR(CheckSizesAtBatch(graph_));
    NoteInputs(notes, dims_of_inputs);
    return absl::OkStatus();
  }

 private:
  // Translates the entry behind what was there before.
  absl::Status Translate(const DimLengths& dims, const ValuesAtBatch& values, bool finds_batch) {
    graph_ = before_;
    graph_.at_batch = values;
    graph_.finds_batch = finds_batch;
    return TranslateEntry(file_, options_, dims, caches_, graph_);
  }

  // Reads the entry to find its batch: at lengths for those dimensions that have none, and with a
  // batch of one as one of several, as nothing is seen to flow along a 1.
  absl::StatusOr<FoundBatch> FindBatch(const DimLengths& given) {
    DimLengths known = given;
    if (!caches_.pairs.empty()) known.emplace(caches_.pairs[0].symbol, caches_.pairs[0].length);
    const OpenDims open =
        options_.batch.has_value() ? FindOpenDims(file_.order, options_, known) : OpenDims();
    const DimLengths dims = WithTrial(open, options_, given);
    FoundBatch found;
    const auto read = [&] { return Translate(dims, found.ones, true); };
    const auto find = [&]() -> absl::Status {
      found.finder = std::make_unique<const BatchFinder>(graph_, options_, open);
      YUBA_ASSIGN_OR_RETURN(found.batch, found.finder->Find(graph_.entry));
      return absl::OkStatus();
    };
    const absl::Status tried = read();
    if (!tried.ok()) return WhyNoTrial(tried, open, options_);
    const std::map<std::string, int> ones = InputsOfOne();
    for (const auto& [input, dim] : ones) found.ones[input] = AtBatch(input, dim);
    if (!ones.empty()) YUBA_RETURN_IF_ERROR(read());
    YUBA_RETURN_IF_ERROR(find());
    const auto& batch = found.batch.dims;
    const bool other = std::any_of(batch.begin(), batch.end(), [&](const auto& dim) {
      const auto one = ones.find(graph_.values[dim.first].name);
      return one != ones.end() && one->second != dim.second;
    });
    if (!other) return found;
    found.ones.clear();
    YUBA_RETURN_IF_ERROR(read());
    YUBA_RETURN_IF_ERROR(find());
    return found;
  }

  ValueAtBatch AtBatch(const std::string& input, int dim) const {
    ValueAtBatch value = {graph_.values[graph_.by_name.at(input)].dims, nullptr};
    value.dims[dim] = *options_.batch;
    return value;
  }

  // Where the file has a batch of one, so that the first dimension of all inputs of the entry is 1,
  // or that which --batch-dim says, and --batch asks for another: these inputs and dimensions. None
  // where --dim says that it is one.
  std::map<std::string, int> InputsOfOne() const {
    std::map<std::string, int> ones;
    if (options_.batch.value_or(1) == 1) return ones;
    for (const int input : graph_.inputs) {
      const OnnxValue& value = graph_.values[input];
      const bool here = value.entry == graph_.entry || value.entry == OnnxValue::kCommon;
      if (!here || value.name == kLabels) continue;
      int dim = options_.batch_dims.empty() ? 0 : -1;
      for (const BatchDim& flag : options_.batch_dims) {
        if (flag.input == value.name) dim = flag.dim;
      }
      if (dim < 0 || dim >= static_cast<int>(value.dims.size())) continue;
      if (value.dims[dim] != 1 || !value.dim_names[dim].empty()) return {};
      ones[value.name] = dim;
    }
    return ones;
  }

  // What a part computes must be what the whole step, which graph_ is, does.
  absl::Status CheckParts(const DimLengths& dims, const ValuesAtBatch& part) {
    const OnnxGraph whole = std::move(graph_);
    YUBA_RETURN_IF_ERROR(Translate(dims, part, true));
    YUBA_RETURN_IF_ERROR(CheckSizesAtBatch(graph_));
    const absl::Status checked = CheckSameAtBatch(whole, graph_);
    if (checked.ok()) return checked;
    return UserError("--micro-batches ", parts_, ": ", checked.message(),
                     ": the loss of the parts would not be that of the whole");
  }

  // What was found, for people and for the inputs of the entry.
  void NoteInputs(const std::vector<std::string>& notes,
                  const std::map<std::string, int>& dims_of_inputs) {
    for (const std::string& note : notes) {
      const auto& all = graph_.notes;
      if (std::count(all.begin(), all.end(), note) == 0) graph_.notes.push_back(note);
    }
    for (const int input : graph_.inputs) {
      OnnxValue& value = graph_.values[input];
      const auto dim = dims_of_inputs.find(value.name);
      const bool here = value.entry == graph_.entry || value.entry == OnnxValue::kCommon;
      if (here && dim != dims_of_inputs.end()) value.batch_dim = dim->second;
    }
  }

  const OrderedFile& file_;
  const ImportOptions& options_;
  const EntryCaches& caches_;
  const int64_t parts_;  // of a step: micro-batches
  OnnxGraph& graph_;
  const OnnxGraph before_;  // graph_ without the entry
};

// Whether the options change nothing about the batch.
bool KeepsBatch(const ImportOptions& options) {
  const bool parts = options.train.has_value() && options.train->micro_batches > 1;
  return !parts && !options.batch.has_value();
}

}  // namespace

absl::Status ReadEntryAtBatch(const OrderedFile& file, const ImportOptions& options,
                              const DimLengths& dims, const EntryCaches& caches, OnnxGraph& graph) {
  graph.at_batch.clear();
  if (KeepsBatch(options)) return TranslateEntry(file, options, dims, caches, graph);
  return BatchReader(file, options, caches, graph).Read(dims);
}

absl::Status NoteBatch(const ImportOptions& options, OnnxGraph& graph) {
  if (!KeepsBatch(options)) return absl::OkStatus();
  const BatchFinder finder(graph, options);
  const auto entries = static_cast<int>(graph.entries.size());
  std::vector<Batch> batches;
  for (int entry = 0; entry < entries; ++entry) {
    YUBA_ASSIGN_OR_RETURN(Batch batch, finder.Find(entry));
    batches.push_back(std::move(batch));
  }
  for (const Batch& batch : batches) {
    for (const auto& [input, dim] : batch.dims) {
      if (graph.values[input].batch_dim < 0) graph.values[input].batch_dim = dim;
    }
    if (graph.no_batch.empty() && !batch.sure.ok())
      graph.no_batch = std::string(batch.sure.message());
  }
  return absl::OkStatus();
}

}  // namespace yuba::onnx
