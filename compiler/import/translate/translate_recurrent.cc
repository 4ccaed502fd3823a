// LSTM, GRU and RNN: one cell for each step and direction.
#include <algorithm>

#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/translate.h"

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
    for (const std::vector<int>& step : states) all.push_back(Concat(step, 1));
    const int y = Concat(all, 0), h = Concat(last_h, 0);
    node_.SetOutput(0, batch_first_ ? node_.Transpose(y, {2, 0, 1, 3}) : y);
    node_.SetOutput(1, batch_first_ ? node_.Transpose(h, {1, 0, 2}) : h);
    if (op_ != "LSTM") return;
    const int c = Concat(last_c, 0);
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
    CheckVariant();
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
    CheckLengths();
  }

  void CheckVariant() {
    if (direction_ != "forward" && direction_ != "reverse" && direction_ != "bidirectional")
      node_.Fail("direction '", direction_, "' is unknown");
    if (node_.HasAttribute("clip") || node_.Int("input_forget", 0) != 0 || node_.Optional(7) >= 0)
      node_.Fail("clip, input_forget and peepholes are not supported");
    static const char* const kUsual[] = {"Sigmoid", "Tanh", "Tanh"};
    const ::onnx::AttributeProto* activations = node_.Find("activations");
    const int count = op_ == "LSTM" ? 3 : op_ == "GRU" ? 2 : 1;
    for (int i = 0; activations != nullptr && i < activations->strings_size(); ++i) {
      if (activations->strings(i) != kUsual[op_ == "RNN" ? 1 : i % count])
        node_.Fail("activation '", activations->strings(i), "' is not supported here");
    }
  }

  void CheckLengths() {
    if (node_.Optional(4) < 0) return;
    for (const int64_t length : node_.KnownInts(node_.Optional(4), "sequence lengths")) {
      if (length != steps_) node_.Fail("sequences of different lengths are not supported");
    }
  }

  // `x` at `index` along a dimension, without that dimension.
  int Element(int x, int axis, int64_t index) { return Piece(x, axis, index, 1, true); }

  int Piece(int x, int axis, int64_t begin, int64_t length, bool drop) {
    if (node_.failed()) return -1;
    const Dims dims = node_.Dims(x);
    Dims start(dims.size(), 0), step(dims.size(), 1), lengths = dims;
    start[axis] = begin;
    lengths[axis] = length;
    const int part =
        lengths == dims ? x : node_.Write(SliceTemplate(dims, start, step, lengths), {x});
    if (drop) lengths.erase(lengths.begin() + axis);
    return node_.failed() ? -1 : node_.Reshape(part, lengths);
  }

  // The state before the first step: [batch, hidden].
  int Initial(int input, int direction) {
    const int given = node_.Optional(input);
    if (given < 0) {
      const int zero = node_.Literal(node_.ValueOf(x_).type, 0);
      return node_.Write(ExpandTemplate({}, {batch_, hidden_}), {zero});
    }
    const int all =
        batch_first_ && node_.Rank(given) == 3 ? node_.Transpose(given, {1, 0, 2}) : given;
    if (node_.Dims(all) != Dims{directions_, batch_, hidden_})
      node_.Fail("its initial state must be ", Extents({directions_, batch_, hidden_}));
    return Element(all, 0, direction);
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
    const int bias = Element(node_.Optional(3), 0, direction);
    return {Piece(bias, 0, 0, size, false), Piece(bias, 0, size, size, false)};
  }

  void Unroll(int direction, std::vector<std::vector<int>>& states, std::vector<int>& last_h,
              std::vector<int>& last_c) {
    const bool backward = direction_ == "reverse" || direction == 1;
    const int w = Element(w_, 0, direction), r = Element(r_, 0, direction);
    std::vector<int> biases = Biases(direction);
    if (op_ != "GRU") biases = {node_.Entry("add", {biases[0], biases[1]})};
    int h = Initial(5, direction), c = op_ == "LSTM" ? Initial(6, direction) : -1;
    for (int64_t i = 0; i < steps_ && !node_.failed(); ++i) {
      const int64_t step = backward ? steps_ - 1 - i : i;
      std::vector<int> operands = {Element(x_, 0, step), h};
      if (op_ == "LSTM") operands.push_back(c);
      operands.insert(operands.end(), {w, r});
      operands.insert(operands.end(), biases.begin(), biases.end());
      const std::vector<int> next = node_.EntryOutputs(Cell(), operands);
      if (node_.failed()) return;
      h = next[0];
      if (op_ == "LSTM") c = next[1];
      states[step].push_back(node_.Reshape(h, {1, 1, batch_, hidden_}));
    }
    last_h.push_back(node_.Reshape(h, {1, batch_, hidden_}));
    if (c >= 0) last_c.push_back(node_.Reshape(c, {1, batch_, hidden_}));
  }

  const char* Cell() {
    if (op_ == "LSTM") return "lstm_cell";
    if (op_ == "RNN") return "rnn_cell";
    return node_.Int("linear_before_reset", 0) != 0 ? "gru_cell" : "gru_cell_reset_first";
  }

  int Concat(const std::vector<int>& parts, int axis) {
    if (parts.size() == 1 || node_.failed()) return parts[0];
    std::vector<Dims> dims;
    for (const int part : parts) dims.push_back(node_.Dims(part));
    return node_.Write(ConcatTemplate(dims, axis), parts);
  }

  static constexpr int64_t kMostSteps = 4096;

  NodeContext& node_;
  const std::string op_;
  const int64_t gates_;
  int x_ = -1, w_ = -1, r_ = -1;
  bool batch_first_ = false;
  std::string direction_;
  int64_t directions_ = 1, steps_ = 0, batch_ = 0, hidden_ = 0;
};

}  // namespace

void TranslateRecurrent(NodeContext& node) { Recurrence(node).Translate(); }

}  // namespace yuba::onnx
