// A family of models: a function that builds any of them from its sizes. One file a family; the
// table of all is in zoo.cc.
#ifndef YUBA_TOOLS_ZOO_FAMILY_H_
#define YUBA_TOOLS_ZOO_FAMILY_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "tools/zoo/graph_builder.h"

namespace yuba::zoo {

// By the name of the option, without dashes: {{"layers", 12}, {"width", 768}}.
using Sizes = std::map<std::string, int64_t>;

struct Family {
  std::string name;
  std::string what;  // one line for people
  std::string loss;  // the loss that its output is meant for
  Sizes sizes;       // the options that it takes, and their values where none is given
  // Adds the model to the builder. All sizes of `sizes` are given and at least 1. The user's error
  // where they do not go together.
  absl::Status (*build)(const Sizes& sizes, GraphBuilder& builder);
};

// The families. Each has the output "logits", or "y" where it is no classifier.
Family Mlp();
Family Gpt();
Family Llama();
Family Moe();
Family Bert();
Family Vit();
Family WideResNet();
Family ResNetOfCifar();
Family Unet3d();
Family Rnn();
Family Dlrm();

// An error where `whole` is no multiple of `part`; both are options, by name.
absl::Status CheckMultiple(const Sizes& sizes, const std::string& whole, const std::string& part);

}  // namespace yuba::zoo

#endif  // YUBA_TOOLS_ZOO_FAMILY_H_
