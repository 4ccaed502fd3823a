// Calls of opaque functions against sorting by hand, on buffers that hold more than a device's part
// and in any order of dimensions: that each slice is found where it lies, by any number of threads.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>

#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kRows = 7, kLength = 5;

// The index along each dimension of a tensor of rows.
struct Order {
  std::vector<int> indices;
  std::vector<int64_t> dims;
  int row = 0;  // the dimension along which rows are numbered
};

// Rows 0 to 3 and 4 to 6 of a tensor, and one row more on both sides where there is one.
std::vector<Box> BoxesOf(const Order& order, bool wider) {
  std::vector<Box> boxes(2, WholeBox(order.dims));
  boxes[0][order.row] = wider ? Interval{0, 5} : Interval{0, 4};
  boxes[1][order.row] = wider ? Interval{3, 7} : Interval{4, 7};
  return boxes;
}

// Two devices that sort 4 and 3 rows of x, out of a buffer and into one that hold more.
program::Program Sorting(const Order& x, const Order& y) {
  ProgramBuilder builder({2});
  const int input = builder.AddBuffer("x", program::F32, x.dims, BoxesOf(x, true));
  const int sorted = builder.AddBuffer("sorted", program::I64, y.dims, BoxesOf(y, true));
  const int output = builder.AddBuffer("y", program::I64, y.dims, BoxesOf(y, false));
  builder.AddInput("x", input);
  program::Function& function = *builder.message().add_functions();
  program::OpaqueCalls& opaque = *function.mutable_opaque();
  opaque.set_name("argsort");
  opaque.add_attributes(0);
  program::OpaqueTensor& argument = *opaque.add_arguments();
  for (int index : x.indices) argument.add_indices(index);
  for (int index : y.indices) opaque.mutable_result()->add_indices(index);
  program::Kernel& kernel = *builder.message().add_instructions()->mutable_kernel();
  kernel.add_node("sorted");
  kernel.add_from("");
  for (int i = 0; i < 3; ++i) {  // the row, the place in y, the place in x
    program::FunctionIndex* index = function.add_indices();
    index->set_extent(i == 0 ? kRows : kLength);
    index->set_reduction(i == 2);
    program::Range* range = kernel.add_indices();
    *range->mutable_begin() = builder.Table({0, i == 0 ? 4 : 0});
    *range->mutable_end() = i == 0 ? builder.Table({4, 7}) : builder.Table({kLength, kLength});
  }
  ProgramBuilder::AddDefinition(&function, 1);
  kernel.add_operands()->set_buffer(input);
  *kernel.mutable_operands(0)->mutable_box() = builder.BoxTable(BoxesOf(x, false));
  kernel.add_results()->set_buffer(sorted);
  *kernel.mutable_results(0)->mutable_box() = builder.BoxTable(BoxesOf(y, false));
  program::Exchange* exchange = builder.AddExchange(sorted, output);
  *exchange->mutable_from() = builder.BoxTable(BoxesOf(y, false));
  builder.AddOutput("y", output);
  return builder.message();
}

size_t OffsetOf(const Order& order, int64_t row, int64_t place) {
  return order.row == 0 ? row * kLength + place : place * kRows + row;
}

TEST_CASE("slices are found in buffers that hold more, along any dimension") {
  const Order orders_of_x[] = {{{0, 2}, {kRows, kLength}, 0}, {{2, 0}, {kLength, kRows}, 1}};
  const Order orders_of_y[] = {{{0, 1}, {kRows, kLength}, 0}, {{1, 0}, {kLength, kRows}, 1}};
  for (const Order& x : orders_of_x) {
    for (const Order& y : orders_of_y) {
      INFO("rows along dimension " << x.row << " of x and " << y.row << " of y");
      std::vector<float> values(kRows * kLength);
      std::vector<int64_t> expected(kRows * kLength);
      for (int64_t row = 0; row < kRows; ++row) {
        std::vector<int64_t> places(kLength);
        std::iota(places.begin(), places.end(), 0);
        const auto value = [row](int64_t place) { return (row * 3 + place * 7) % 5 % 3; };
        for (int64_t p : places) values[OffsetOf(x, row, p)] = static_cast<float>(value(p));
        std::stable_sort(places.begin(), places.end(),
                         [&](int64_t a, int64_t b) { return value(a) < value(b); });
        for (int64_t p = 0; p < kLength; ++p) expected[OffsetOf(y, row, p)] = places[p];
      }
      const auto program = LoadedProgram::FromMessage(Sorting(x, y));
      REQUIRE_THAT(program, IsOk());
      for (int threads : {1, 2, 8}) {
        RunOptions options;
        options.threads_per_device = threads;
        const auto session = OpenSession(*program, options);
        REQUIRE_THAT(session->Set("x", FloatTensor(x.dims, values)), IsOk());
        REQUIRE_THAT(session->Step(), IsOk());
        std::vector<int64_t> got(expected.size());
        const std::string data = session->Get("y").value().data;
        REQUIRE(data.size() == got.size() * sizeof(int64_t));
        std::memcpy(got.data(), data.data(), data.size());
        CHECK(got == expected);
      }
    }
  }
}

TEST_CASE("a slice beyond what a device holds is refused") {
  const Order x = {{0, 2}, {kRows, kLength}, 0}, y = {{0, 1}, {kRows, kLength}, 0};
  program::Program program = Sorting(x, y);
  program::Kernel& kernel = *program.mutable_instructions(0)->mutable_kernel();
  kernel.mutable_indices(0)->mutable_end()->set_values(0, 6);
  CHECK_THAT(LoadedProgram::FromMessage(program),
             StatusIs(absl::StatusCode::kInvalidArgument, "is used over [0, 6), the buffer has"));
}

}  // namespace
}  // namespace yuba::runtime
