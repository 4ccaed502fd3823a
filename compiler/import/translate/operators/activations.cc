#include "compiler/import/translate/operators/activations.h"

#include <cmath>

#include "absl/strings/ascii.h"

namespace yuba::onnx {
namespace {

// An activation, the description that it becomes, and which attributes of it are alpha and beta.
struct Row {
  const char* name;
  const char* entry;
  const char* alpha = nullptr;  // null: it has none
  const char* beta = nullptr;
  double usual_alpha = NAN, usual_beta = NAN;  // NaN: it must be given
};

constexpr Row kRows[] = {{"affine", "affine", "scale", "shift", 1, 0},
                         {"elu", "elu", "alpha", nullptr, 1},
                         {"hardsigmoid", "hard_sigmoid", "alpha", "beta", 0.2, 0.5},
                         {"leakyrelu", "leaky_relu", "alpha", nullptr, 0.01},
                         {"relu", "relu"},
                         {"scaledtanh", "scaled_tanh", "alpha", "beta"},
                         {"sigmoid", "sigmoid"},
                         {"softplus", "softplus"},
                         {"softsign", "softsign"},
                         {"tanh", "tanh"},
                         {"thresholdedrelu", "thresholded_relu", "alpha", nullptr, 1}};

const Row* FindActivation(const std::string& name) {
  for (const Row& row : kRows) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

// The next number of a list, or what stands for it.
double Next(NodeContext& node, const std::vector<double>& numbers, size_t& at, double usual,
            const std::string& name) {
  if (at < numbers.size()) return numbers[at++];
  if (std::isnan(usual)) node.Fail("activation '", name, "' needs its alpha and beta");
  return usual;
}

}  // namespace

std::vector<Activation> ActivationsOf(NodeContext& node, const std::vector<std::string>& usual,
                                      int64_t directions) {
  std::vector<std::string> names;
  if (const ::onnx::AttributeProto* given = node.Find("activations"))
    names.assign(given->strings().begin(), given->strings().end());
  const size_t count = usual.size() * directions;
  if (names.empty()) {
    for (int64_t d = 0; d < directions; ++d) names.insert(names.end(), usual.begin(), usual.end());
  }
  // The default of RNN's attribute has two names whatever the direction.
  if (names.size() > count && usual.size() == 1) names.resize(count);
  if (names.size() != count) node.Fail("it names ", names.size(), " activations, not ", count);
  const std::vector<double> alphas = node.Floats("activation_alpha");
  const std::vector<double> betas = node.Floats("activation_beta");
  std::vector<Activation> activations;
  size_t alpha = 0, beta = 0;
  for (const std::string& name : names) {
    Activation activation;
    activation.name = absl::AsciiStrToLower(name);
    const Row* row = FindActivation(activation.name);
    if (row == nullptr) node.Fail("activation '", name, "' is unknown");
    if (node.failed()) return std::vector<Activation>(count);
    if (row->alpha != nullptr) activation.alpha = Next(node, alphas, alpha, row->usual_alpha, name);
    if (row->beta != nullptr) activation.beta = Next(node, betas, beta, row->usual_beta, name);
    activations.push_back(activation);
  }
  return activations;
}

int Activated(NodeContext& node, const Activation& activation, int x) {
  if (node.failed()) return -1;
  const Row& row = *FindActivation(activation.name);
  Attributes attributes;
  if (row.alpha != nullptr) attributes[row.alpha] = activation.alpha;
  if (row.beta != nullptr) attributes[row.beta] = activation.beta;
  return node.Entry(row.entry, {x}, attributes);
}

}  // namespace yuba::onnx
