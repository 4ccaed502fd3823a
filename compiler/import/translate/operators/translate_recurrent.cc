// LSTM, GRU and RNN: one cell for each step and direction.

#include "absl/strings/ascii.h"
#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/activations.h"
#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {
namespace {

class Recurrence {
 public:
  explicit Recurrence(NodeContext& node)
      : node_(node),
        op_(node.proto().op_type()),
        gates_(op_ == "LSTM"  ? 4
               : op_ == "GRU" ? 3
                              : 1) {}

  void Translate() {
    ReadOperands();
    if (node_.failed()) return;
    std::vector<std::vector<int>> states(steps_);  // [step][direction] -> [1, 1, batch, hidden]
    std::vector<int> last_h, last_c;
    for (int direction = 0; direction < directions_ && !node_.failed(); ++direction)
      Unroll(direction, states, last_h, last_c);
    if (node_.failed()) return;
    std::vector<int> all;
    for (const std::vector<int>& step : states) all.push_back(node_.Concat(step, 1));
    const int y = node_.Concat(all, 0), h = node_.Concat(last_h, 0);
    node_.SetOutput(0, batch_first_ ? node_.Transpose(y, {2, 0, 1, 3}) : y);
    node_.SetOutput(1, batch_first_ ? node_.Transpose(h, {1, 0, 2}) : h);
    if (op_ != "LSTM") return;
    const int c = node_.Concat(last_c, 0);
    node_.SetOutput(2, batch_first_ ? node_.Transpose(c, {1, 0, 2}) : c);
  }

 private:
  void ReadOperands() {
    x_ = node_.Input(0);
    w_ = node_.Input(1);
    r_ = node_.Input(2);
    batch_first_ = node_.Int("layout", 0) != 0;
    direction_ = node_.String("direction", "forward");
    directions_ = direction_ == "bidirectional" ? 2 : 1;
    ReadVariant();
    if (node_.Rank(x_) != 3 || node_.Rank(w_) != 3 || node_.Rank(r_) != 3)
      node_.Fail("its operands must have three dimensions");
    if (node_.failed()) return;
    if (batch_first_) x_ = node_.Transpose(x_, {1, 0, 2});
    const Dims& x = node_.Dims(x_);
    steps_ = x[0];
    batch_ = x[1];
    hidden_ = node_.Dims(r_)[2];
    if (node_.Int("hidden_size", hidden_) != hidden_)
      node_.Fail("attribute 'hidden_size' differs from its weights ", Extents(node_.Dims(r_)));
    const Dims w = {directions_, gates_ * hidden_, x[2]},
               r = {directions_, gates_ * hidden_, hidden_};
    if (node_.Dims(w_) != w || node_.Dims(r_) != r)
      node_.Fail("its weights must be ", Extents(w), " and ", Extents(r));
    if (steps_ < 1 || steps_ > kMostSteps)
      node_.Fail("a sequence of ", steps_, " steps is not supported (1 to ", kMostSteps, " are)");
    ReadLengths();
    if (peepholes_ >= 0 && node_.Dims(peepholes_) != Dims{directions_, 3 * hidden_})
      node_.Fail("its peepholes must be ", Extents({directions_, 3 * hidden_}));
  }

  void ReadVariant() {
    if (direction_ != "forward" && direction_ != "reverse" && direction_ != "bidirectional")
      node_.Fail("direction '", direction_, "' is unknown");
    const std::vector<std::string> usual =
        op_ == "LSTM"  ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
        : op_ == "GRU" ? std::vector<std::string>{"Sigmoid", "Tanh"}
                       : std::vector<std::string>{"Tanh"};
    activations_ = ActivationsOf(node_, usual, directions_);
    clip_ = node_.Float("clip", 0);
    if (clip_ < 0 || (node_.HasAttribute("clip") && clip_ == 0))
      node_.Fail("its clip must be positive");
    input_forget_ = node_.Int("input_forget", 0) != 0;
    if (op_ == "LSTM") peepholes_ = node_.Optional(7);
    if (node_.failed()) return;
    in_parts_ = clip_ > 0 || input_forget_ || peepholes_ >= 0;
    for (size_t i = 0; i < activations_.size(); ++i)
      in_parts_ |= activations_[i].name != absl::AsciiStrToLower(usual[i % usual.size()]);
    per_direction_ = static_cast<int>(usual.size());
  }

  // Lengths that are all those of the whole sequence say nothing.
  void ReadLengths() {
    const int given = node_.Optional(4);
    if (given < 0 || node_.failed()) return;
    if (node_.Dims(given) != Dims{batch_})
      return node_.Fail("its sequence lengths must be one for each of ", batch_, " sequences");
    bool whole = node_.IsKnown(given);
    for (const int64_t length : whole ? node_.KnownInts(given, "sequence lengths") : Dims())
      whole &= length == steps_;
    if (!whole) lengths_ = given;
  }

  // `x` in the sequences that have not ended before `step`, in the others `rest`.
  int UntilEnd(int x, int rest, int64_t step) {
    return lengths_ < 0 ? x
                        : node_.Entry("until_end", {x, rest, lengths_},
                                      {{"step", step}, {"choices", steps_ + 1}});
  }

  int Zeros() {  // [batch, hidden]
    const int zero = node_.Literal(node_.ValueOf(x_).type, 0);
    return node_.Write(ExpandTemplate({}, {batch_, hidden_}), {zero});
  }

  // The state before the first step: [batch, hidden].
  int Initial(int input, int direction) {
    const int given = node_.Optional(input);
    if (given < 0) return Zeros();
    const int all =
        batch_first_ && node_.Rank(given) == 3 ? node_.Transpose(given, {1, 0, 2}) : given;
    if (node_.Dims(all) != Dims{directions_, batch_, hidden_})
      node_.Fail("its initial state must be ", Extents({directions_, batch_, hidden_}));
    return node_.Element(all, 0, direction);
  }

  // The biases of the input's product and of the state's product.
  std::vector<int> Biases(int direction) {
    const int64_t size = gates_ * hidden_;
    if (node_.Optional(3) < 0) {
      const int zero = node_.Literal(node_.ValueOf(x_).type, 0);
      const int none = node_.Write(ExpandTemplate({}, {size}), {zero});
      return {none, none};
    }
    if (node_.Dims(node_.Optional(3)) != Dims{directions_, 2 * size})
      node_.Fail("its bias must be ", Extents({directions_, 2 * size}));
    const int bias = node_.Element(node_.Optional(3), 0, direction);
    return {node_.Part(bias, 0, 0, size), node_.Part(bias, 0, size, size)};
  }

  void Unroll(int direction, std::vector<std::vector<int>>& states, std::vector<int>& last_h,
              std::vector<int>& last_c) {
    const bool backward = direction_ == "reverse" || direction == 1;
    const int w = node_.Element(w_, 0, direction), r = node_.Element(r_, 0, direction);
    std::vector<int> biases = Biases(direction);
    if (op_ != "GRU") biases = {node_.Entry("add", {biases[0], biases[1]})};
    int h = Initial(5, direction), c = op_ == "LSTM" ? Initial(6, direction) : -1;
    for (int64_t i = 0; i < steps_ && !node_.failed(); ++i) {
      const int64_t step = backward ? steps_ - 1 - i : i;
      std::vector<int> operands = {node_.Element(x_, 0, step), h};
      if (op_ == "LSTM") operands.push_back(c);
      operands.insert(operands.end(), {w, r});
      operands.insert(operands.end(), biases.begin(), biases.end());
      const std::vector<int> next =
          in_parts_ ? CellInParts(direction, operands) : node_.EntryOutputs(Cell(), operands);
      if (node_.failed()) return;
      const int y = lengths_ < 0 ? next[0] : UntilEnd(next[0], Zeros(), step);
      h = UntilEnd(next[0], h, step);
      if (op_ == "LSTM") c = UntilEnd(next[1], c, step);
      if (node_.failed()) return;
      states[step].push_back(node_.Reshape(y, {1, 1, batch_, hidden_}));
    }
    last_h.push_back(node_.Reshape(h, {1, batch_, hidden_}));
    if (c >= 0) last_c.push_back(node_.Reshape(c, {1, batch_, hidden_}));
  }

  const char* Cell() {
    if (op_ == "LSTM") return "lstm_cell";
    if (op_ == "RNN") return "rnn_cell";
    return node_.Int("linear_before_reset", 0) != 0 ? "gru_cell" : "gru_cell_reset_first";
  }

  // A cell of other activations, clipped, or with peepholes: of the operands of the cell as one
  // description, the next states.
  std::vector<int> CellInParts(int direction, const std::vector<int>& operands) {
    if (op_ == "LSTM") return LstmInParts(direction, operands);
    if (op_ == "GRU") return {GruInParts(direction, operands)};
    const int z = Product(operands[0], operands[2], operands[4]);
    return {Activate(direction, 0, node_.Entry("add", {z, Product(operands[1], operands[3], -1)}))};
  }

  std::vector<int> LstmInParts(int direction, const std::vector<int>& operands) {
    const int c = operands[2], h = Product(operands[1], operands[4], -1);
    const int z = node_.Entry("add", {Product(operands[0], operands[3], operands[5]), h});
    const int p = peepholes_ < 0 ? -1 : node_.Element(peepholes_, 0, direction);
    const int i = Activate(direction, 0, Peeped(Gate(z, 0), p, 0, c));
    const int f = input_forget_ ? node_.Entry("affine", {i}, {{"scale", -1.0}, {"shift", 1.0}})
                                : Activate(direction, 0, Peeped(Gate(z, 2), p, 2, c));
    const int g = Activate(direction, 1, Gate(z, 3));
    const int next = node_.Entry("add", {Times(f, c), Times(i, g)});
    const int o = Activate(direction, 0, Peeped(Gate(z, 1), p, 1, next));
    return {Times(o, Activate(direction, 2, next)), next};
  }

  int GruInParts(int direction, const std::vector<int>& operands) {
    const int h = operands[1], u = Product(operands[0], operands[2], operands[4]);
    const int v = Product(h, operands[3], operands[5]);
    const auto gate = [&](int number) {
      return Activate(direction, 0, node_.Entry("add", {Gate(u, number), Gate(v, number)}));
    };
    const int z = gate(0), r = gate(1);
    const bool late = node_.Int("linear_before_reset", 0) != 0;
    const int hidden = late ? Times(r, Gate(v, 2))
                            : Product(Times(r, h), node_.Part(operands[3], 0, 2 * hidden_, hidden_),
                                      node_.Part(operands[5], 0, 2 * hidden_, hidden_));
    const int a = Activate(direction, 1, node_.Entry("add", {Gate(u, 2), hidden}));
    const int rest = node_.Entry("affine", {z}, {{"scale", -1.0}, {"shift", 1.0}});
    return node_.Entry("add", {Times(rest, a), Times(z, h)});
  }

  // x times the weight transposed, plus the bias unless it is absent.
  int Product(int x, int weight, int bias) {
    return node_.failed() ? -1 : node_.Entry("linear", {x, node_.Transpose(weight, {1, 0}), bias});
  }

  int Times(int a, int b) { return node_.Entry("mul", {a, b}); }

  // Gate `number` of [batch, gates * hidden].
  int Gate(int z, int64_t number) { return node_.Part(z, 1, number * hidden_, hidden_); }

  // `gate` plus its peephole, gate `number` of p, of the cell's state.
  int Peeped(int gate, int p, int64_t number, int c) {
    if (p < 0 || node_.failed()) return gate;
    const int weight = node_.Part(p, 0, number * hidden_, hidden_);
    return node_.Entry("add", {gate, Times(c, weight)});
  }

  // Activation `number` of a direction, of x within the clip. That of the cell's state, number 2,
  // is not of a gate: ONNX Runtime, which alone reads the attribute, does not clip what it gets.
  int Activate(int direction, int number, int x) {
    if (clip_ > 0 && number < 2)
      x = node_.Entry("clip", {x}, {{"least", -clip_}, {"greatest", clip_}});
    return Activated(node_, activations_[direction * per_direction_ + number], x);
  }

  static constexpr int64_t kMostSteps = 4096;

  NodeContext& node_;
  const std::string op_;
  const int64_t gates_;
  int x_ = -1, w_ = -1, r_ = -1;
  bool batch_first_ = false;
  std::string direction_;
  int64_t directions_ = 1, steps_ = 0, batch_ = 0, hidden_ = 0;
  int lengths_ = -1;  // [batch], or absent
  // What the cells as one description do not have: other activations, as many of them in each
  // direction, a limit on what these get (0: none), forget gates of 1 - input, peepholes [i o f].
  bool in_parts_ = false;
  std::vector<Activation> activations_;
  int per_direction_ = 0;
  double clip_ = 0;
  bool input_forget_ = false;
  int peepholes_ = -1;
};

}  // namespace

void TranslateRecurrent(NodeContext& node) { Recurrence(node).Translate(); }

}  // namespace yuba::onnx
