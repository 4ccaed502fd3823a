// Which buffers may hold a library's formats, and which of these are in blocks of channels.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <vector>

#include "runtime/host/convolution.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

// A convolution that touches buffers, all of each, and computes nothing.
class Toucher : public ConvolutionKernel {
 public:
  Toucher(std::vector<Touch> touches, bool takes_blocks)
      : touches_(std::move(touches)), takes_blocks_(takes_blocks) {}
  std::vector<Touch> Touches() const override { return touches_; }
  bool TakesBlocks() const override { return takes_blocks_; }
  bool GainsBy(const BufferFormats&) const override { return false; }
  absl::Status Prepare(bool, BufferFormats&) override { return absl::OkStatus(); }
  bool FilterIsLeft() const override { return false; }
  absl::Status Run(const LibraryBuffers&, char*) override { return absl::OkStatus(); }
  int64_t workspace_bytes() const override { return 0; }

 private:
  const std::vector<Touch> touches_;
  const bool takes_blocks_;
};

struct Call {
  int input, result;
  int residual = -1;  // -1: none
  bool takes_blocks = true;
  bool part = false;  // it reads a part of its input
};

// The formats of `count` buffers of one size, of which the first is an input and the last an
// output.
BufferFormats FormatsOf(int count, const std::vector<Call>& calls) {
  const auto library = OneDnn::Open();
  REQUIRE_THAT(library, IsOk());
  ProgramBuilder builder({1});
  for (int b = 0; b < count; ++b)
    builder.AddBuffer("b" + std::to_string(b), program::F32, {4, 4}, {WholeBox({4, 4})});
  const int weights = builder.AddBuffer("w", program::F32, {4, 4}, {WholeBox({4, 4})});
  dnnl_memory_desc_t plain;
  const dnnl_dims_t dims = {4, 4};
  REQUIRE((*library)->memory_desc_init_by_tag(&plain, 2, dims, dnnl_f32, dnnl_ab) == dnnl_success);
  std::vector<std::unique_ptr<Toucher>> touchers;
  std::map<int, const ConvolutionKernel*> kernels;
  for (const Call& call : calls) {
    program::LibraryCall product;
    product.set_right(1);
    const std::vector<std::array<int, 3>> dimensions = {{0, -1, 0}, {-1, 1, 1}, {1, 0, -1}};
    const std::vector<google::protobuf::RepeatedPtrField<program::LibraryIndex>*> roles = {
        product.mutable_rows(), product.mutable_columns(), product.mutable_inner()};
    for (int index = 0; index < 3; ++index) {
      program::LibraryIndex& added = *roles[index]->Add();
      added.set_index(index);
      added.set_left_dim(dimensions[index][0]);
      added.set_right_dim(dimensions[index][1]);
      added.set_result_dim(dimensions[index][2]);
    }
    std::vector<int> operands = {call.input, weights};
    std::vector<ConvolutionKernel::Touch> touches(2);
    touches[0] = {call.input, plain, !call.part};
    touches[1] = {call.result, plain, true, true};
    if (call.residual >= 0) {
      operands.push_back(call.residual);
      program::PostOp& step = *product.add_post_ops();
      step.set_operand(2);
      for (const int index : {0, 1}) step.add_indices(index);
      touches.push_back({call.residual, plain, true, false, true});
    }
    builder.AddLibraryKernel(product, {{{0, 4}}, {{0, 4}}, {{0, 4}}}, operands, call.result);
    touchers.push_back(std::make_unique<Toucher>(std::move(touches), call.takes_blocks));
    kernels[static_cast<int>(kernels.size())] = touchers.back().get();
  }
  builder.AddInput("x", 0);
  builder.AddOutput("y", count - 1);
  BufferFormats formats = FreeBuffers(*builder.Load(), **library, kernels);
  formats.free.resize(count);
  formats.blocked.resize(count);
  return formats;
}

TEST_CASE("what calls pass on to each other is free, and in blocks where a residual is added") {
  const std::vector<bool> inner = {false, true, true, true, false}, none(5);
  const BufferFormats blocked = FormatsOf(5, {{0, 1}, {1, 2}, {2, 3, 1}, {3, 4}});
  CHECK(blocked.free == inner);
  CHECK(blocked.blocked == inner);
  const BufferFormats without = FormatsOf(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  CHECK(without.free == inner);
  CHECK(without.blocked == none);
  const BufferFormats refused = FormatsOf(5, {{0, 1}, {1, 2, -1, false}, {2, 3, 1}, {3, 4}});
  CHECK(refused.free == inner);
  CHECK(refused.blocked == none);
}

TEST_CASE("buffers that no free buffer connects are blocked or not by themselves") {
  // Buffer 2 is read in part, so it is plain, and what is before it has nothing to do with what is
  // behind it.
  const BufferFormats formats =
      FormatsOf(6, {{0, 1, -1, false}, {1, 2}, {2, 3, -1, true, true}, {3, 4, 3}, {4, 5}});
  CHECK(formats.free == std::vector<bool>{false, true, false, true, true, false});
  CHECK(formats.blocked == std::vector<bool>{false, false, false, true, true, false});
}

}  // namespace
}  // namespace yuba::runtime
