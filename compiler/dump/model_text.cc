#include "compiler/dump/model_text.h"

#include "absl/strings/str_cat.h"
#include "compiler/dump/enum_words.h"

namespace yuba::compiler {
namespace {

// Each structure is taken apart into all of its members, so that a member that is added later does
// not compile before somebody has decided how it is written.

std::string TextOf(const std::string& text) { return Quoted(text); }

std::string TextOf(const std::pair<const std::string, std::string>& pair) {
  return absl::StrCat(Quoted(pair.first), " is ", Quoted(pair.second));
}

std::string TextOf(const StoredForm& form) {
  const auto& [kind, parameters, blocks, stored_as] = form;
  return absl::StrCat("form ", kind, " of ", ListText(parameters, Quoted), " blocks [",
                      absl::StrJoin(blocks, ", "), "] stored as ", Quoted(stored_as));
}

std::string TextOf(const std::pair<const std::string, StoredForm>& pair) {
  return absl::StrCat(Quoted(pair.first), " is ", TextOf(pair.second));
}

std::string TextOf(const GradientRule::Pair& pair) {
  const auto& [of, gradient] = pair;
  return absl::StrCat(of, " has ", gradient);
}

std::string TextOf(const GradientRule& rule) {
  const auto& [outputs, operands, first_input, first_output] = rule;
  const auto text = [](const GradientRule::Pair& pair) { return TextOf(pair); };
  return absl::StrCat("outputs ", ListText(outputs, text), " operands ", ListText(operands, text),
                      " from input ", first_input, " and output ", first_output);
}

std::string TextOf(const Cluster& cluster) {
  const auto& [shared, results, entry, rows] = cluster;
  const char* const words = rows == Cluster::kNone   ? ", not on GPUs"
                            : rows == Cluster::kOnce ? ", on GPUs in pieces"
                                                     : "";
  return absl::StrCat("[", absl::StrJoin(results, ", "), "] shares ", shared, " in entry ", entry,
                      words);
}

std::string TextOf(const TiedWeights& weights) {
  const auto& [tied, kept, transposed] = weights;
  return absl::StrCat(Quoted(tied), " is ", Quoted(kept), transposed ? " transposed" : "");
}

std::string TextOf(const std::pair<const TensorId, InitialValue>& pair) {
  const auto& [kind, data, range, draw] = pair.second;
  std::string text = absl::StrCat("%", pair.first);
  switch (kind) {
    case InitialValue::kMissing: return text + " is missing";
    case InitialValue::kData: return absl::StrCat(text, " is ", BytesText(*data));
    case InitialValue::kFill: return absl::StrCat(text, " is filled with ", BytesText(*data));
    case InitialValue::kFile:
      return absl::StrCat(text, " is ", range.length, " bytes of ", Quoted(range.file), " (",
                          range.file_size, ") at ", range.offset);
    case InitialValue::kDrawn: break;
  }
  const bool normal = draw.distribution == Draw::kNormal;
  return absl::StrCat(text, " is drawn ", normal ? "normal" : "uniform", " ", draw.first, " ",
                      draw.second, " seed ", draw.seed);
}

// A line for each element.
template <typename List>
void Append(const char* what, const List& list, std::string& text) {
  for (const auto& element : list) absl::StrAppend(&text, "  ", what, " ", TextOf(element), "\n");
}

}  // namespace

std::string ModelText(const Model& model) {
  const auto& [file, graph, values, forms, missing_parameters, gradient_rules, clusters, words,
               trainable, ties, training, graph_hash, notes, file_inputs, file_outputs, file_nodes,
               opset, flops, source] = model;
  const auto& [parameters, kept, states, first_states] = words;
  std::string text =
      absl::StrCat("model ", Quoted(file), "\n  opset ", opset, "\n  nodes in the file ",
                   file_nodes, "\n  flops ", flops, "\n  hash ", Quoted(graph_hash), "\n");
  Append("note", notes, text);
  Append("input of the file", file_inputs, text);
  Append("output of the file", file_outputs, text);
  Append("value", values, text);
  Append("stored", forms, text);
  Append("missing parameter", missing_parameters, text);
  Append("gradients:", gradient_rules, text);
  Append("parameter", parameters, text);
  Append("kept:", kept, text);
  Append("state", states, text);
  Append("first state", first_states, text);
  Append("trainable", trainable, text);
  Append("tied:", ties, text);
  Append("training:", training, text);
  Append("cluster", clusters, text);
  return text;
}

}  // namespace yuba::compiler
