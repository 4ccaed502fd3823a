// What baselines move, against the closed forms of their papers, on stacks of 1 to 12 layers.
//
// On k devices an all-gather or a reduce-scatter of S bytes moves (k - 1) S bytes into all devices
// together, and an all-reduce is one of each. Sizes are multiples of k, so that every part is
// equal.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba {
namespace {

constexpr int64_t kDevices = 8, kOthers = kDevices - 1, kFloat = 4;
constexpr int64_t kBatch = 16, kWidth = 64, kClasses = 16;
constexpr int64_t kSequence = 32, kVocabulary = 128;  // of the GPT
constexpr int64_t kPatches = 65;                      // of the ViT: 8 x 8 and the class token
const std::vector<int64_t> kLayers = {1, 3, 12};
constexpr char kTrain[] = " --train sgd --loss softmax-cross-entropy";

struct Model {
  std::string file;
  int64_t parameters = 0;  // elements
};

Model Write(const std::string& family, int64_t layers, const std::string& sizes) {
  Model model = {ScratchFolder("published_" + family) + "/" + family + ".onnx"};
  const nlohmann::json written =
      nlohmann::json::parse(Succeed("yuba zoo " + family + " --layers " + std::to_string(layers) +
                                    sizes + " --json -o " + model.file)
                                .out);
  model.parameters = written["parameters"];
  return model;
}

Model Mlp(int64_t layers) { return Write("mlp", layers, " --width 64 --batch 16 --classes 16"); }
Model Gpt(int64_t layers) {
  return Write("gpt", layers, " --width 64 --heads 8 --sequence 32 --vocab 128 --batch 16");
}
Model Vit(int64_t layers) {
  return Write("vit", layers, " --width 64 --heads 8 --image 64 --patch 8 --classes 16 --batch 16");
}
// A ResNet of `blocks` bottlenecks in each of its three stages.
Model ResNet(int64_t blocks) {
  return Write("resnet-cifar", 9 * blocks + 2, " --image 8 --batch 16 --classes 16");
}

// Bytes that a step moves.
int64_t Moved(const Model& model, const std::string& search, const std::string& flags = "") {
  const std::string plan = model.file + "." + search + ".json";
  Succeed("yuba partition " + model.file + " --devices 8 --no-check --search " + search + flags +
          " -o " + plan);
  std::ifstream file(plan);
  return nlohmann::json::parse(file)["cost"]["bytes"];
}

// The scalars of a loss that is the mean over a batch: the sum of losses and what it is divided by,
// each added up and sent to all.
constexpr int64_t kLoss = 2 * (2 * kOthers * kFloat);
// A causal mask is computed in parts, a byte for two positions, and gathered once.
constexpr int64_t kMask = kOthers * kSequence * kSequence;

int64_t Gathered(int64_t elements) { return kOthers * kFloat * elements; }
int64_t AllReduced(int64_t elements) { return 2 * Gathered(elements); }

// Channels of the norms of a ResNet, whose stages are 16, 32 and 64 wide and have outputs of four
// times that; the first norm of a stage reads what the stage before wrote.
int64_t NormedChannels(int64_t blocks) {
  int64_t channels = 256, before = 16;
  for (int64_t width : {16, 32, 64}) {
    channels += before + (blocks - 1) * 4 * width + blocks * 2 * width;
    before = 4 * width;
  }
  return channels;
}

// Data parallelism moves nothing forward, and all-reduces the gradients in a step (Goyal et al.,
// "Accurate, large minibatch SGD", 2017, section 4): 2 (k - 1) bytes for each byte of parameters.
// Norms over the batch, which stay on each device there, are over the whole batch here: an
// all-reduce of a mean and a variance a channel, and behind it an all-gather of what their
// gradients sum.
TEST_CASE("data parallelism all-reduces the gradients and nothing else") {
  for (const int64_t layers : kLayers) {
    INFO(layers << " layers");
    for (const Model& model : {Mlp(layers), Gpt(layers), Vit(layers)}) {
      INFO(model.file);
      const int64_t forward = model.file.find("gpt") != std::string::npos ? kMask : 0;
      CHECK(Moved(model, "data") == forward);
      CHECK(Moved(model, "data", kTrain) == AllReduced(model.parameters) + kLoss + forward);
    }
    const Model model = ResNet(layers);
    const int64_t norms = 2 * NormedChannels(layers);
    CHECK(Moved(model, "data") == AllReduced(norms));
    CHECK(Moved(model, "data", kTrain) ==
          AllReduced(model.parameters) + kLoss + AllReduced(norms) + Gathered(norms));
  }
}

// The weights that the backward pass reads, with which it computes gradients of activations, of
// `layers` blocks of attention and feed-forward: all matrices, and the bias in front of a GELU,
// which is computed again. Scales of norms are read several times there, and kept.
int64_t ReadBackward(int64_t layers) { return layers * (12 * kWidth * kWidth + 4 * kWidth); }

// ZeRO stage 3 (Rajbhandari et al. 2020, section 7.2.2): weights are gathered forward and again
// backward, gradients are reduce-scattered: (k - 1) bytes each time for a byte of parameters. The
// backward pass gathers those alone that it reads.
TEST_CASE("ZeRO-3 gathers weights twice and reduce-scatters gradients") {
  for (const int64_t layers : kLayers) {
    INFO(layers << " layers");
    const auto step = [](const Model& model, int64_t again) {
      return Gathered(model.parameters) + Gathered(again) + Gathered(model.parameters) + kLoss;
    };
    const Model mlp = Mlp(layers);
    const int64_t head = kWidth * kClasses;
    CHECK(Moved(mlp, "zero3") == Gathered(mlp.parameters));
    CHECK(Moved(mlp, "zero3", kTrain) ==
          step(mlp, layers == 1 ? 0 : (layers - 2) * kWidth * kWidth + head));
    const Model vit = Vit(layers);
    CHECK(Moved(vit, "zero3") == Gathered(vit.parameters));
    CHECK(Moved(vit, "zero3", kTrain) == step(vit, ReadBackward(layers) + head));
    // The mask compares numbers of positions, which are cut as all that is stored.
    const Model gpt = Gpt(layers);
    const int64_t forward = Moved(gpt, "zero3"), positions = kOthers * 8 * kSequence;
    CHECK(forward > Gathered(gpt.parameters) + kMask);
    CHECK(forward < Gathered(gpt.parameters) + kMask + positions);
    CHECK(Moved(gpt, "zero3", kTrain) ==
          forward + Gathered(ReadBackward(layers) + gpt.parameters) + kLoss);
    // Scales and shifts of norms are gathered again where one node of the backward pass reads them.
    const Model resnet = ResNet(layers);
    const int64_t norms = 2 * NormedChannels(layers), first = 16 * 3 * 3 * 3;
    const int64_t others = AllReduced(norms) + Gathered(norms);
    CHECK(Moved(resnet, "zero3") == Gathered(resnet.parameters) + AllReduced(norms));
    const int64_t moved = Moved(resnet, "zero3", kTrain) - others;
    CHECK(moved >= step(resnet, resnet.parameters - norms - first - kClasses));
    CHECK(moved <= step(resnet, resnet.parameters - first - kClasses));
  }
}

// Megatron-LM (Shoeybi et al. 2019, section 3): of two products that follow each other the first is
// cut by columns, the second by rows, with an all-reduce of what the second makes; backward an
// all-reduce of the gradient of what the first reads. Here a reduce-scatter ends such a pair and an
// all-gather begins the next (Korthikanti et al. 2022, section 4.2.2), so weights that are whole,
// as scales of norms, have their gradients all-reduced.
TEST_CASE("Megatron cuts a stack of products in pairs") {
  for (const int64_t layers : kLayers) {
    INFO(layers << " layers");
    const Model model = Mlp(layers);
    int64_t forward = 0, whole = model.parameters;
    for (int64_t pair = 0; pair < layers / 2; ++pair) {
      const int64_t width = 2 * pair + 2 == layers ? kClasses : kWidth;
      // The input is whole on all devices, and nobody needs its gradient.
      forward += Gathered(kBatch * width) + (pair > 0 ? Gathered(kBatch * kWidth) : 0);
      whole -= kWidth * kWidth + kWidth + kWidth * width;
    }
    CHECK(Moved(model, "megatron") == forward);
    CHECK(Moved(model, "megatron", kTrain) == 2 * forward + AllReduced(whole) + kLoss);
  }
}

// The weights of a block that are cut: all but the scales and shifts of two norms and the biases
// behind the two row parallel products.
int64_t CutOfBlock() { return 12 * kWidth * kWidth + 7 * kWidth; }

TEST_CASE("Megatron all-reduces twice a block of a ViT") {
  for (const int64_t layers : kLayers) {
    INFO(layers << " layers");
    const Model model = Vit(layers);
    const int64_t forward = 2 * layers * AllReduced(kBatch * kPatches * kWidth);
    CHECK(Moved(model, "megatron") == forward);
    const int64_t whole = model.parameters - layers * CutOfBlock();
    CHECK(Moved(model, "megatron", kTrain) == 2 * forward + AllReduced(whole) + kLoss);
  }
}

// Besides, the table of tokens is cut by the vocabulary: an all-reduce of what is looked up, whose
// second half is the all-gather in front of the logits. The loss of logits that are cut needs their
// largest, the sum of their exponentials and that of the label, of each token; the first two on all
// devices (Megatron-LM, section 3: "to reduce the communication size, we fuse ..."). The gradient
// of the loss of each token, which is 0 where its label does not count, is told to all.
TEST_CASE("Megatron cuts a GPT's vocabulary too") {
  for (const int64_t layers : kLayers) {
    INFO(layers << " layers");
    const Model model = Gpt(layers);
    const int64_t tokens = kBatch * kSequence;
    const int64_t products = (2 * layers + 1) * AllReduced(tokens * kWidth);
    CHECK(Moved(model, "megatron") == products + kMask);
    const int64_t whole = model.parameters - layers * CutOfBlock() - kVocabulary * kWidth;
    CHECK(Moved(model, "megatron", kTrain) == 2 * products + kMask + AllReduced(whole) +
                                                  Gathered(3 * tokens) + Gathered(3 * tokens) +
                                                  kLoss);
  }
}

// Rotary embeddings exchange the halves of each head: devices that had parts of heads would gather
// them. The two tables of angles are computed in parts and gathered, as the mask is.
TEST_CASE("Megatron gives devices whole heads where queries share keys") {
  for (const int64_t layers : kLayers) {
    INFO(layers << " layers");
    const Model model = Write("llama", layers,
                              " --width 64 --heads 16 --kv-heads 8 --feed-forward 128 "
                              "--sequence 32 --vocab 128 --batch 16");
    const int64_t products = (2 * layers + 1) * AllReduced(kBatch * kSequence * kWidth);
    const int64_t angles = 2 * Gathered(kSequence * kWidth / 16);
    CHECK(Moved(model, "megatron") == products + kMask + angles);
  }
}

// Queries, keys and values of one weight, (3 5 16) columns: heads are cut, and where they are too
// few for all devices no more moves than if they were enough. The 3 and the 16 are no columns that
// stay apart.
TEST_CASE("Megatron with fewer heads than devices moves no more than with enough") {
  const int64_t layers = 2, width = 80, tokens = kBatch * kSequence;
  const Model model =
      Write("gpt", layers, " --width 80 --heads 5 --sequence 32 --vocab 128 --batch 16");
  const int64_t cut = layers * (12 * width * width + 7 * width) + kVocabulary * width;
  const int64_t products = (2 * layers + 1) * AllReduced(tokens * width);
  CHECK(Moved(model, "megatron", kTrain) <= 2 * products + kMask +
                                                AllReduced(model.parameters - cut) +
                                                2 * Gathered(3 * tokens) + kLoss);
}

// Tensor parallelism over T of 8 devices inside data parallelism over D = 8 / T (Narayanan et al.,
// "Efficient large-scale language model training on GPU clusters using Megatron-LM", SC 2021,
// section 3.3.1): each of D groups gathers and scatters 1 / D of the activations among T devices,
// and the gradients of weights that are cut in T are all-reduced over D. The row is the best T.
int64_t MovedByProduct(const Model& model, int64_t layers, int64_t tensor) {
  const auto among = [](int64_t devices, int64_t elements) {
    return (devices - 1) * kFloat * elements;
  };
  const int64_t tokens = kBatch * kSequence;
  const int64_t cut = layers * CutOfBlock() + kVocabulary * kWidth;
  const int64_t products = (2 * layers + 1) * 2 * among(tensor, tokens * kWidth);
  const int64_t losses = 2 * among(tensor, 3 * tokens);
  return 2 * products + losses + 2 * among(kDevices / tensor, cut) +
         AllReduced(model.parameters - cut) + kMask + kLoss;
}

TEST_CASE("Megatron over data parallelism is the best product of both") {
  for (const int64_t layers : kLayers) {
    INFO(layers << " layers");
    const Model model = Gpt(layers);
    int64_t best = MovedByProduct(model, layers, 1);
    for (const int64_t tensor : {2, 4, 8}) {
      best = std::min(best, MovedByProduct(model, layers, tensor));
    }
    CHECK(best == MovedByProduct(model, layers, 2));
    CHECK(Moved(model, "megatron-data", kTrain) == best);
    CHECK(best < Moved(model, "data", kTrain));
    CHECK(best < Moved(model, "megatron", kTrain));
  }
}

// Zero stages 1 and 2 move what data parallelism does (Rajbhandari et al., section 7.2.1).
TEST_CASE("ZeRO-1 and ZeRO-2 move what data parallelism moves") {
  const Model model = Mlp(3);
  const int64_t data = Moved(model, "data", kTrain);
  CHECK(Moved(model, "zero1", kTrain) == data);
  CHECK(Moved(model, "zero2", kTrain) == data);
}

// Hybrid sharding on 2 nodes of 8 devices (Zhao et al., "PyTorch FSDP", VLDB 2023, section 3.2.2):
// weights are gathered twice within each node, gradients are reduced to one owner among all, and
// the other node gets the updated weights.
TEST_CASE("hybrid sharding gathers weights within nodes") {
  for (const int64_t layers : kLayers) {
    INFO(layers << " layers");
    const Model model = Mlp(layers);
    const int64_t head = kWidth * kClasses;
    const int64_t again = layers == 1 ? 0 : (layers - 2) * kWidth * kWidth + head;
    const int64_t within = 2 * 7 * kFloat * (model.parameters + again);
    const int64_t gradients = (15 + 1) * kFloat * model.parameters;
    const int64_t loss = 2 * (2 * 15 * kFloat);
    const std::string plan = model.file + ".hsdp.json";
    Succeed("yuba partition " + model.file + " --machine hgx-h100:2 --no-check --search hsdp" +
            kTrain + " -o " + plan);
    std::ifstream file(plan);
    CHECK(nlohmann::json::parse(file)["cost"]["bytes"] == within + gradients + loss);
  }
}

}  // namespace
}  // namespace yuba
