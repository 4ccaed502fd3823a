#include "compiler/import/entry_reader.h"

#include <algorithm>
#include <utility>

#include "compiler/import/loss.h"
#include "compiler/import/node_translator.h"
#include "compiler/import/outputs.h"
#include "compiler/import/random_numbers.h"
#include "compiler/import/supported.h"
#include "compiler/import/ties.h"
#include "compiler/import/translate/sources.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

// Makes one of parameters that are tied, and notes which others are equal.
absl::Status Tie(const OrderedFile& file, const ImportOptions& options, OnnxGraph& graph) {
  const ::onnx::NodeProto none;
  NodeContext context(none, file.opset, "tie", file.folder, *options.library, graph);
  YUBA_RETURN_IF_ERROR(TieParameters(file.ties, context, graph));
  if (graph.entry > 0) return absl::OkStatus();
  for (std::string& line : EqualParameters(graph)) graph.notes.push_back(std::move(line));
  return absl::OkStatus();
}

// Evaluation changes no state: those outputs from `first` on that training carries are none of
// it.
absl::Status LeaveOutNextValues(size_t first, const ImportOptions& options, OnnxGraph& graph) {
  if (graph.seed >= 0) {
    return UserError("--eval-entry: the model draws random numbers besides those of dropouts, so ",
                     "evaluation would change those of training; leave out --eval-entry");
  }
  const auto is_next = [&](int output) {
    const std::string& name = graph.values[output].name;
    const auto made = graph.by_name.find(name);
    return options.state.count(name) > 0 ||
           (made != graph.by_name.end() && graph.values[made->second].statistics);
  };
  std::vector<int>& outputs = graph.outputs;
  outputs.erase(
      std::remove_if(outputs.begin() + static_cast<int64_t>(first), outputs.end(), is_next),
      outputs.end());
  return absl::OkStatus();
}

}  // namespace

absl::Status TranslateEntry(const OrderedFile& file, const ImportOptions& options, DimLengths dims,
                            const EntryCaches& caches, OnnxGraph& graph) {
  const ::onnx::GraphProto& proto = file.proto.graph();
  const std::vector<CachePair>& pairs = caches.pairs;
  if (!pairs.empty()) {
    if (dims.count(pairs[0].symbol) > 0) {
      return UserError("--dim ", pairs[0].symbol,
                       ": the length of the caches is that of --cache; leave it out");
    }
    dims[pairs[0].symbol] = pairs[0].length - caches.new_rows;
  }
  graph.trains = options.train.has_value() && !graph.evaluates;
  YUBA_RETURN_IF_ERROR(AddSources(proto, file.order, file.folder, options, dims, graph));
  YUBA_RETURN_IF_ERROR(AddCaches(pairs, caches.new_rows, graph));
  if (options.train.has_value()) YUBA_RETURN_IF_ERROR(Tie(file, options, graph));
  NodeTranslator translator(file.proto, file.opset, file.folder, *options.library, graph);
  for (const int n : file.order.nodes) {
    const absl::Status status = translator.Translate(proto.node(n), n);
    if (!status.ok() && translator.unknown())
      return CheckSupported(file.proto, file.order, file.opset, *options.library, {n, status});
    YUBA_RETURN_IF_ERROR(status);
  }
  const ::onnx::NodeProto none;
  NodeContext context(none, file.opset, "output", file.folder, *options.library, graph);
  const size_t first = graph.outputs.size();
  FinishOutputs(proto, context, graph);
  if (context.failed()) return context.status();
  if (graph.evaluates) {
    YUBA_RETURN_IF_ERROR(LeaveOutNextValues(first, options, graph));
  } else {
    YUBA_RETURN_IF_ERROR(AddCarried(proto, options.state, graph));
  }
  YUBA_RETURN_IF_ERROR(FinishCaches(context, graph));
  CarryStatistics(graph);
  if (options.train.has_value())
    YUBA_RETURN_IF_ERROR(AddLoss(*options.train, *options.library, context, first, graph));
  return NumberStreams(graph);
}

}  // namespace yuba::onnx
