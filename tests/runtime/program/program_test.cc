// Loading: what is wrong in a program is found and named; broken bytes are errors, never crashes.
#include "runtime/program/program.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "opsemantics/base/collectives.h"
#include "runtime/host/kernel_object.h"
#include "runtime/program/tables.h"
#include "runtime/program/work.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

// Two devices: x gathered, times w, summed over halves of the inner index.
program::Program Sound() {
  ProgramBuilder builder({2});
  const std::vector<Box> both(2, WholeBox({4, 6}));
  const int x = builder.AddBuffer("x", program::F32, {4, 6}, CutAlong({4, 6}, 0, 2));
  const int w = builder.AddBuffer("w", program::F32, {6, 3}, CutAlong({6, 3}, 0, 2));
  const int all = builder.AddBuffer("all", program::F32, {4, 6}, both);
  const int made =
      builder.AddBuffer("made", program::F32, {4, 3}, std::vector<Box>(2, WholeBox({4, 3})));
  const int y = builder.AddBuffer("y", program::F32, {4, 3}, CutAlong({4, 3}, 0, 2));
  program::Exchange* gather = builder.AddExchange(x, all);
  gather->set_collective(CollectiveNumber("all_gather"));
  gather->add_axes(0);
  program::LibraryCall call;
  call.set_right(1);
  program::LibraryIndex* row = call.add_rows();
  row->set_right_dim(-1);
  program::LibraryIndex* column = call.add_columns();
  column->set_index(1);
  column->set_left_dim(-1);
  column->set_right_dim(1);
  column->set_result_dim(1);
  program::LibraryIndex* inner = call.add_inner();
  inner->set_index(2);
  inner->set_left_dim(1);
  inner->set_result_dim(-1);
  builder.AddLibraryKernel(call, {{{0, 4}, {0, 4}}, {{0, 3}, {0, 3}}, {{0, 3}, {3, 6}}}, {all, w},
                           made);
  builder.AddReduction(made, y, program::SUM, 2, {0, 1});
  builder.AddInput("x", x);
  builder.AddOutput("y", y);
  program::Initializer* parameter = builder.message().add_parameters();
  parameter->mutable_port()->set_name("w");
  parameter->mutable_port()->set_buffer(w);
  parameter->mutable_port()->add_shape(18);
  parameter->set_data(std::string(18 * 4, '\0'));
  builder.message().mutable_buffers(w)->set_initialized(true);
  return builder.message();
}

// One that nothing is wrong with.
program::CodeNumber* AddNumber(program::Program& p) {
  program::CodeNumber* number = p.add_code_numbers();
  number->set_name("eps");
  number->set_type(program::F32);
  number->set_data(std::string(4, '\0'));
  return number;
}

TEST_CASE("the work of a kernel is what a device reads and writes, and its points") {
  program::Program message = Sound();
  const Mesh mesh = program::MeshOf(message);
  const program::Kernel& product = message.instructions(1).kernel();
  const program::Work work = program::WorkOn(message, mesh, product, 1);
  CHECK(work.points == 4 * 3 * 3);  // half of the inner index
  // The whole "all", as the access says, half of w, and the whole "made".
  CHECK(work.kernel.bytes == 4 * (4 * 6 + 3 * 3 + 4 * 3));
  CHECK(work.kernel.kernel_class == KernelClass::kProduct);
  CHECK(work.kernel.library);
  // What stays on the chip counts no bytes.
  std::vector<bool> on_chip(message.buffers_size(), false);
  on_chip[product.results(0).buffer()] = true;
  CHECK(program::WorkOn(message, mesh, product, 1, on_chip).kernel.bytes == 4 * (4 * 6 + 3 * 3));
  CHECK(program::WorkOn(message, mesh, product, 1, on_chip).kernel.results == 4 * 3);
  // Two rows are computed, one column of them: of "all" and "made" no more than the points.
  program::Kernel few = product;
  for (int index : {0, 1}) {
    few.mutable_indices(index)->mutable_end()->clear_axes();
    few.mutable_indices(index)->mutable_end()->clear_values();
    few.mutable_indices(index)->mutable_end()->add_values(index == 0 ? 2 : 1);
  }
  const program::Work less = program::WorkOn(message, mesh, few, 1);
  CHECK(less.points == 2 * 1 * 3);
  CHECK(less.kernel.bytes == 4 * (6 + 6 + 6));
  // What the compiler says of a definition counts: operations at a point, ties, ranges.
  CHECK(!program::SaysItsWork(message));
  program::FunctionDefinition& definition =
      *message.mutable_functions(product.function())->mutable_definitions(0);
  definition.set_operations(2);
  CHECK(program::SaysItsWork(message));
  CHECK(program::WorkOn(message, mesh, product, 1).kernel.operations == 2 * 4 * 3 * 3);
  program::IndexTie& tie = *definition.add_ties();
  tie.add_indices(0);
  tie.add_indices(1);
  CHECK(program::WorkOn(message, mesh, product, 1).points == 3 * 3);
  program::Kernel narrowed = product;
  program::WorkRange& range = *narrowed.add_work_ranges();
  range.set_index(2);
  range.mutable_range()->mutable_begin()->add_values(0);
  range.mutable_range()->mutable_end()->add_values(1);
  CHECK(program::WorkOn(message, mesh, narrowed, 1).points == 3);
}

TEST_CASE("a sound program loads and runs") {
  program::Program sound = Sound();
  AddNumber(sound);
  auto program = LoadedProgram::FromMessage(sound);
  REQUIRE_THAT(program, IsOk());
  CHECK((*program)->devices() == 2);
  CHECK((*program)->Describe(2) == "instruction 2 (reduce of made for y)");
  auto session = OpenSession(*program);
  REQUIRE_THAT(session->Randomize(1), IsOk());
  CHECK_THAT(session->Step(), IsOk());
}

struct Fault {
  const char* message;
  std::function<void(program::Program&)> make;
};

program::Exchange& ExchangeAt(program::Program& p, int i) {
  return *p.mutable_instructions(i)->mutable_exchange();
}
program::Kernel& KernelOf(program::Program& p) {
  return *p.mutable_instructions(1)->mutable_kernel();
}
program::LibraryCall& CallOf(program::Program& p) {
  return *p.mutable_functions(0)->mutable_library();
}
// A window in which every number is 0.
program::LibraryWindow* AddWindow(program::Program& p) {
  using W = program::LibraryWindow;
  W* window = CallOf(p).add_windows();
  for (auto set : {&W::set_stride, &W::set_dilation}) (window->*set)(1);
  for (auto set : {&W::set_output, &W::set_kernel, &W::set_input, &W::set_output_dim,
                   &W::set_filter_dim, &W::set_input_dim})
    (window->*set)(-1);
  return window;
}
program::FunctionDefinition& DefinitionOf(program::Program& p) {
  return *p.mutable_functions(KernelOf(p).function())->mutable_definitions(0);
}
program::Internal& InternalOf(program::Program& p) {
  program::Internal& internal = *KernelOf(p).add_internals();
  internal.set_name("t");
  return internal;
}
void SetEnd(program::Range* range, int64_t value) {
  for (int64_t& end : *range->mutable_end()->mutable_values()) end = value;
}
void AddSplit(program::Program& p, int index, int dim, int64_t step) {
  program::IndexSplit* split = p.mutable_functions(KernelOf(p).function())->add_splits();
  split->set_index(index);
  split->set_result_dim(dim);
  split->set_step(step);
}

program::ThreadLaunch* LaunchIn(program::Program& program) {
  program::ThreadLaunch* launch =
      program.mutable_functions(KernelOf(program).function())->add_launches();
  launch->set_threads(256);
  launch->set_points(256);
  return launch;
}

// In tiles of 8 values of an index.
program::ThreadLaunch* TileIn(program::Program& program) {
  program::ThreadLaunch* launch = LaunchIn(program);
  launch->add_indices(0);
  launch->add_sides(8);
  return launch;
}

// Another launch of the same code, whose blocks are started with those of the first.
program::ThreadLaunch* BesideIn(program::Program& program) {
  LaunchIn(program)->set_symbol("k");
  program::ThreadLaunch* launch = LaunchIn(program);
  launch->set_symbol("k");
  launch->set_beside(true);
  return launch;
}

TEST_CASE("definitions that begin with the same index are a section") {
  program::Function function;
  const auto add = [&](const std::vector<int>& indices) {
    auto* definition = function.add_definitions();
    for (const int index : indices) definition->add_indices(index);
  };
  using Sections = std::vector<program::Section>;
  add({0, 1});
  CHECK(program::SectionsOf(function) == Sections{{0, 1, 0}});
  add({0, 1, 2});
  CHECK(program::SectionsOf(function) == Sections{{0, 2, 2}});
  add({0, 3});
  add({4});
  add({5, 6});
  add({5, 6});
  add({});
  add({});
  CHECK(program::SectionsOf(function) ==
        Sections{{0, 3, 1}, {3, 4, 0}, {4, 6, 2}, {6, 7, 0}, {7, 8, 0}});
}

TEST_CASE("each fault of a program is refused with its place") {
  const std::vector<Fault> faults = {
      {"starts blocks of 2000 threads", [](auto& p) { LaunchIn(p)->set_threads(2000); }},
      {"starts blocks of 48 threads", [](auto& p) { LaunchIn(p)->set_threads(48); }},
      {"starts blocks of 0 points", [](auto& p) { LaunchIn(p)->set_points(0); }},
      {"starts blocks for 0 parts of 4 bytes", [](auto& p) { LaunchIn(p)->set_part_bytes(4); }},
      {"starts blocks for indices that it does not have",
       [](auto& p) { LaunchIn(p)->add_indices(9); }},
      {"starts blocks of tiles with 1 sides over 0 indices in 0 parts; each index needs a side",
       [](auto& p) { LaunchIn(p)->add_sides(1); }},
      {"starts blocks of tiles with 1 sides over 1 indices",
       [](auto& p) { TileIn(p)->set_sides(0, 0); }},
      {"starts blocks of tiles with 1 sides over 1 indices",
       [](auto& p) { TileIn(p)->set_sides(0, -8); }},
      {"starts blocks of tiles with 1 sides over 1 indices",
       [](auto& p) { TileIn(p)->set_sides(0, int64_t{1} << 50); }},
      {"starts blocks of tiles with 1 sides over 1 indices in 2 parts",
       [](auto& p) { TileIn(p)->set_parts(2); }},
      {"starts blocks behind those of no launch", [](auto& p) { LaunchIn(p)->set_beside(true); }},
      {"two launches together that differ: k of 256 threads, k of 128",
       [](auto& p) { BesideIn(p)->set_threads(128); }},
      {"two launches together that differ: k of 256 threads, other of 256",
       [](auto& p) { BesideIn(p)->set_symbol("other"); }},
      {"two launches together that differ", [](auto& p) { BesideIn(p)->set_parts(2); }},
      {"mesh axis a has size 0", [](auto& p) { p.mutable_mesh(0)->set_size(0); }},
      {"more than 65536 devices", [](auto& p) { p.mutable_mesh(0)->set_size(70000); }},
      {"number eps: no element type 77",
       [](auto& p) { AddNumber(p)->set_type(static_cast<program::ElementType>(77)); }},
      {"number eps: it is no single element", [](auto& p) { AddNumber(p)->add_shape(2); }},
      {"number eps: it is no single element", [](auto& p) { AddNumber(p)->set_data("123"); }},
      {"an arena of -1 bytes", [](auto& p) { p.set_arena_size(-1); }},
      {"buffer 0 (x): no element type 77",
       [](auto& p) { p.mutable_buffers(0)->set_type(static_cast<program::ElementType>(77)); }},
      {"buffer 0 (x): impossible dimensions",
       [](auto& p) { p.mutable_buffers(0)->set_dims(0, int64_t{1} << 62); }},
      {"buffer 0 (x): impossible dimensions",
       [](auto& p) { p.mutable_buffers(0)->set_dims(0, -4); }},
      {"buffer 0 (x): a box of rank 3",
       [](auto& p) { p.mutable_buffers(0)->mutable_box()->add_dims(); }},
      {"buffer 0 (x): [0] is no order of its 2 dimensions",
       [](auto& p) { p.mutable_buffers(0)->add_order(0); }},
      {"buffer 0 (x): [1, 1] is no order of its 2 dimensions",
       [](auto& p) {
         for (const int dim : {1, 1}) p.mutable_buffers(0)->add_order(dim);
       }},
      {"buffer 0 (x): [0, 2] is no order of its 2 dimensions",
       [](auto& p) {
         for (const int dim : {0, 2}) p.mutable_buffers(0)->add_order(dim);
       }},
      {"source and destination lie in memory in different orders",
       [](auto& p) {
         for (const int dim : {1, 0}) p.mutable_buffers(0)->add_order(dim);
       }},
      {"a bound with 1 values where its axes make 2",
       [](auto& p) {
         p.mutable_buffers(0)
             ->mutable_box()
             ->mutable_dims(0)
             ->mutable_end()
             ->mutable_values()
             ->RemoveLast();
       }},
      {"a bound over mesh axis 3",
       [](auto& p) {
         p.mutable_buffers(0)->mutable_box()->mutable_dims(0)->mutable_end()->set_axes(0, 3);
       }},
      {"buffer 0 (x): on device 0: its box",
       [](auto& p) { SetEnd(p.mutable_buffers(0)->mutable_box()->mutable_dims(0), 5); }},
      {"buffer 4 (y): 24 bytes in a slot of 20",
       [](auto& p) { p.mutable_buffers(4)->set_size(20); }},
      {"buffer 4 (y): 24 bytes in a slot of 24 at -64",
       [](auto& p) { p.mutable_buffers(4)->set_offset(-64); }},
      {"its offset 2 is not a multiple", [](auto& p) { p.mutable_buffers(0)->set_offset(2); }},
      {"of an arena of 8", [](auto& p) { p.set_arena_size(8); }},
      {"instruction 0 (x): no buffer 9", [](auto& p) { ExchangeAt(p, 0).set_source(9); }},
      {"instruction 0 (x): no buffer -1", [](auto& p) { ExchangeAt(p, 0).set_destination(-1); }},
      {"their dimensions differ", [](auto& p) { ExchangeAt(p, 0).set_destination(1); }},
      {"moves f32 into i32", [](auto& p) { p.mutable_buffers(2)->set_type(program::I32); }},
      {"no mesh axis 5", [](auto& p) { ExchangeAt(p, 0).set_axes(0, 5); }},
      {"no collective 99", [](auto& p) { ExchangeAt(p, 0).set_collective(99); }},
      {"groups are for exchanges that are no collectives",
       [](auto& p) { ExchangeAt(p, 0).mutable_group()->add_values(0); }},
      {"a bound with 0 values where its axes make 1",
       [](auto& p) {
         ExchangeAt(p, 2).clear_collective();
         ExchangeAt(p, 2).mutable_group();
       }},
      {"no reducer 42",
       [](auto& p) { ExchangeAt(p, 2).set_reducer(static_cast<program::Reducer>(42)); }},
      {"instruction 2 (made): a reduction of 0 partials",
       [](auto& p) { ExchangeAt(p, 2).set_partials(0); }},
      {"partial 2 of 2", [](auto& p) { ExchangeAt(p, 2).mutable_partial()->set_values(1, 2); }},
      {"partials of argmax", [](auto& p) { ExchangeAt(p, 2).set_reducer(program::ARGMAX); }},
      {"instruction 1 (kernel made): operand 0: on device 0: the box",
       [](auto& p) { SetEnd(KernelOf(p).mutable_operands(0)->mutable_box()->mutable_dims(1), 9); }},
      {"no function 4", [](auto& p) { KernelOf(p).set_function(4); }},
      {"an index ends at 4611686018427387904",
       [](auto& p) { SetEnd(KernelOf(p).mutable_indices(0), int64_t{1} << 62); }},
      {"dimension 0 is used over [0, 5), the buffer has [0, 4)",
       [](auto& p) { SetEnd(KernelOf(p).mutable_indices(0), 5); }},
      {"index 7 is not there", [](auto& p) { CallOf(p).mutable_rows(0)->set_index(7); }},
      {"dimension 5 is not there", [](auto& p) { CallOf(p).mutable_rows(0)->set_left_dim(5); }},
      {"dimension 0 is not there or named twice",
       [](auto& p) { CallOf(p).mutable_inner(0)->set_left_dim(0); }},
      {"a row index that runs along the wrong tensors",
       [](auto& p) { CallOf(p).mutable_rows(0)->set_right_dim(0); }},
      {"no index runs along dimension 0 of the left operand",
       [](auto& p) { CallOf(p).clear_rows(); }},
      {"the left operand is used where the device holds nothing of it",
       [](auto& p) {
         CallOf(p).clear_rows();
         SetEnd(p.mutable_buffers(2)->mutable_box()->mutable_dims(0), 0);
         SetEnd(KernelOf(p).mutable_operands(0)->mutable_box()->mutable_dims(0), 0);
         SetEnd(KernelOf(p).mutable_results(0)->mutable_box()->mutable_dims(0), 1);
         p.mutable_instructions()->DeleteSubrange(0, 1);
       }},
      {"a window of 2097152 taps",
       [](auto& p) {
         CallOf(p).clear_rows();
         CallOf(p).set_kind(program::LibraryCall::CONVOLUTION);
         program::LibraryWindow* window = AddWindow(p);
         window->set_kernel(3);
         window->set_filter_dim(0);
         *KernelOf(p).add_indices() = KernelOf(p).indices(0);
         p.mutable_functions(KernelOf(p).function())->add_indices();
         SetEnd(KernelOf(p).mutable_indices(3), 1 << 21);
       }},
      {"2 ranges for the 3 indices of its function",
       [](auto& p) { KernelOf(p).mutable_indices()->RemoveLast(); }},
      {"its function computes nothing",
       [](auto& p) { p.mutable_functions(KernelOf(p).function())->clear_definitions(); }},
      {"2 nodes from 1 for the 1 definitions", [](auto& p) { KernelOf(p).add_node("again"); }},
      {"1 nodes from 2 for the 1 definitions", [](auto& p) { KernelOf(p).add_from("again"); }},
      {"no buffer 12", [](auto& p) { KernelOf(p).mutable_results(0)->set_buffer(12); }},
      {"it has no result", [](auto& p) { KernelOf(p).clear_results(); }},
      {"no definition of its function computes one of its tensors",
       [](auto& p) { *KernelOf(p).add_results() = KernelOf(p).results(0); }},
      {"internal tensor t: no element type 77",
       [](auto& p) { InternalOf(p).set_type(static_cast<program::ElementType>(77)); }},
      {"internal tensor t: impossible dimensions", [](auto& p) { InternalOf(p).add_dims(-1); }},
      {"internal tensor t: a box of rank 1",
       [](auto& p) { InternalOf(p).mutable_box()->add_dims(); }},
      {"no definition of its function computes one of its tensors", [](auto& p) { InternalOf(p); }},
      {"no operand 2", [](auto& p) { DefinitionOf(p).mutable_operands(0)->set_operand(2); }},
      {"no operand -1", [](auto& p) { DefinitionOf(p).mutable_operands(0)->set_operand(-1); }},
      {"it reads a tensor that is not computed yet",
       [](auto& p) { DefinitionOf(p).mutable_operands(0)->set_result(0); }},
      {"it reads a tensor that the kernel does not have",
       [](auto& p) { DefinitionOf(p).mutable_operands(0)->set_result(3); }},
      {"it reads a tensor that the kernel does not have",
       [](auto& p) { DefinitionOf(p).mutable_operands(0)->clear_kind(); }},
      {"it computes a tensor that the kernel does not have",
       [](auto& p) { DefinitionOf(p).mutable_computes()->set_internal(0); }},
      {"it computes a tensor that the kernel does not have",
       [](auto& p) { DefinitionOf(p).mutable_computes()->set_operand(0); }},
      {"index 3 is not there or named twice", [](auto& p) { DefinitionOf(p).set_indices(0, 3); }},
      {"no class of kernels 9",
       [](auto& p) { DefinitionOf(p).set_kernel_class(static_cast<program::KernelClass>(9)); }},
      {"no element type 77",
       [](auto& p) { DefinitionOf(p).set_type(static_cast<program::ElementType>(77)); }},
      {"-1 operations at each point", [](auto& p) { DefinitionOf(p).set_operations(-1); }},
      {"-2 operations at each point", [](auto& p) { DefinitionOf(p).set_powers(-2); }},
      {"runs along its index 3, which is not there", [](auto& p) { DefinitionOf(p).set_row(4); }},
      {"turns operand 8, which is not there", [](auto& p) { DefinitionOf(p).set_turned(9); }},
      {"ties index 3, not one of its", [](auto& p) { DefinitionOf(p).add_ties()->add_indices(3); }},
      {"counts index 3 of definition 0",
       [](auto& p) { KernelOf(p).add_work_ranges()->set_index(3); }},
      {"counts index 0 of definition 1",
       [](auto& p) { KernelOf(p).add_work_ranges()->set_definition(1); }},
      {"index 1 is not there or named twice", [](auto& p) { DefinitionOf(p).set_indices(0, 1); }},
      {"no reducer 42",
       [](auto& p) { DefinitionOf(p).set_reducer(static_cast<program::Reducer>(42)); }},
      {"a library call of a cluster",
       [](auto& p) {
         DefinitionOf(p);
         *p.mutable_functions(0)->add_definitions() = p.functions(0).definitions(0);
         KernelOf(p).add_node("again");
         KernelOf(p).add_from("");
       }},
      {"again: it computes a tensor once more",
       [](auto& p) {
         program::Function& function = *p.mutable_functions(KernelOf(p).function());
         function.clear_library();
         function.set_symbol("f");
         *function.add_definitions() = function.definitions(0);
         function.mutable_definitions(1)->set_text("again");
         KernelOf(p).add_node("again");
         KernelOf(p).add_from("");
       }},
      {"a gather of 3 partials", [](auto& p) { ExchangeAt(p, 0).set_partials(3); }},
      {"output y has 12 elements, the devices hold 6",
       [](auto& p) {
         p.mutable_buffers(4)->mutable_box()->mutable_dims(0)->mutable_end()->set_values(0, 0);
         p.mutable_instructions()->RemoveLast();
       }},
      {"a library call on operands that are not there", [](auto& p) { CallOf(p).set_left(2); }},
      {"a convolution with 0 windows",
       [](auto& p) { CallOf(p).set_kind(program::LibraryCall::CONVOLUTION); }},
      {"a window's index that runs along no dimension",
       [](auto& p) {
         CallOf(p).set_kind(program::LibraryCall::DATA_GRADIENT);
         AddWindow(p)->set_input(0);
       }},
      {"dimension 7 is not there or named twice",
       [](auto& p) {
         CallOf(p).clear_rows();
         CallOf(p).set_kind(program::LibraryCall::CONVOLUTION);
         AddWindow(p)->set_input_dim(7);
       }},
      {"a contraction with 1 windows", [](auto& p) { CallOf(p).add_windows(); }},
      {"no kind 7 of library calls",
       [](auto& p) { CallOf(p).set_kind(static_cast<program::LibraryCall::Kind>(7)); }},
      {"a library call on no element type",
       [](auto& p) { CallOf(p).set_type(static_cast<program::ElementType>(77)); }},
      {"a contraction of f64 accumulated in f32",
       [](auto& p) { CallOf(p).set_type(program::F64); }},
      {"a contraction of f32 accumulated in f16",
       [](auto& p) { CallOf(p).set_accumulator(program::F16); }},
      {"the left operand is f32, not bf16", [](auto& p) { CallOf(p).set_type(program::BF16); }},
      {"a convolution of i32 accumulated in f32",
       [](auto& p) {
         CallOf(p).set_kind(program::LibraryCall::CONVOLUTION);
         CallOf(p).set_type(program::I32);
       }},
      {"no kind 42 of post-ops",
       [](auto& p) { CallOf(p).add_post_ops()->set_kind(static_cast<program::PostOp::Kind>(42)); }},
      {"a factor of inf",
       [](auto& p) {
         program::PostOp& scale = *CallOf(p).add_post_ops();
         scale.set_kind(program::PostOp::SCALE);
         scale.set_factor(std::numeric_limits<double>::infinity());
       }},
      {"post-op 0: it reads operand 9, which is not there",
       [](auto& p) { CallOf(p).add_post_ops()->set_operand(9); }},
      {"post-op 0: 0 indices for 2 dimensions", [](auto& p) { CallOf(p).add_post_ops(); }},
      {"post-op 0: index 7 is none of the result, or named twice",
       [](auto& p) {
         program::PostOp& add = *CallOf(p).add_post_ops();
         add.add_indices(7);
         add.add_indices(-1);
       }},
      {"a gradient of a convolution with post-ops",
       [](auto& p) {
         CallOf(p).set_kind(program::LibraryCall::DATA_GRADIENT);
         CallOf(p).add_post_ops()->set_kind(program::PostOp::RELU);
       }},
      {"shares out index 3 along dimension 0 in steps of 1", [](auto& p) { AddSplit(p, 3, 0, 1); }},
      {"shares out index 0 along dimension 2 in steps of 1", [](auto& p) { AddSplit(p, 0, 2, 1); }},
      {"shares out index 0 along dimension 0 in steps of 0", [](auto& p) { AddSplit(p, 0, 0, 0); }},
      {"a library call in hash arithmetic", [](auto& p) { p.set_hash_arithmetic(true); }},
      {"needs one of a symbol, a library call",
       [](auto& p) { p.mutable_functions(0)->clear_library(); }},
      {"needs one of a symbol, a library call",
       [](auto& p) { p.mutable_functions(0)->mutable_opaque(); }},
      {"instruction 3: of no known kind", [](auto& p) { p.add_instructions(); }},
      {"input x: its shape", [](auto& p) { p.mutable_inputs(0)->set_shape(0, 5); }},
      {"output : a name that is empty or taken",
       [](auto& p) { p.mutable_outputs(0)->clear_name(); }},
      {"parameter x: a name that is empty or taken",
       [](auto& p) { p.mutable_parameters(0)->mutable_port()->set_name("x"); }},
      {"parameter w: 71 bytes for 18 elements",
       [](auto& p) { p.mutable_parameters(0)->mutable_data()->pop_back(); }},
      {"parameter w: a count of 24 rows of caches needs to be one i64",
       [](auto& p) { p.mutable_parameters(0)->set_cache_rows(24); }},
      {"parameter w: a count of -1 rows of caches",
       [](auto& p) { p.mutable_parameters(0)->set_cache_rows(-1); }},
      {"parameter w: an element of 3 bytes",
       [](auto& p) { p.mutable_parameters(0)->set_fill("abc"); }},
      {"parameter w: distribution 7, which is none",
       [](auto& p) {
         p.mutable_parameters(0)->mutable_draw()->set_distribution(
             static_cast<program::Draw::Distribution>(7));
       }},
      {"parameter w: it is drawn from 0 and inf",
       [](auto& p) { p.mutable_parameters(0)->mutable_draw()->set_second(HUGE_VAL); }},
  };
  for (const Fault& fault : faults) {
    program::Program program = Sound();
    fault.make(program);
    const auto loaded = LoadedProgram::FromMessage(program);
    INFO(fault.message);
    CHECK_THAT(loaded, StatusIs(absl::StatusCode::kInvalidArgument, fault.message));
  }
}

// Three exchanges of one device's buffers, each of which is named by what it reads and writes;
// those behind the first join it. Buffers a, b, ... lie behind each other.
absl::Status Joined(const std::vector<std::string>& exchanges,
                    const std::function<void(program::Program&)>& change = nullptr) {
  ProgramBuilder builder({1});
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    builder.AddBuffer(name, program::F32, {16}, {WholeBox({16})});
  for (const std::string& exchange : exchanges)
    builder.AddExchange(exchange[0] - 'a', exchange[1] - 'a');
  for (int i = 1; i < builder.message().instructions_size(); ++i)
    builder.message().mutable_instructions(i)->set_joins(true);
  if (change != nullptr) change(builder.message());
  return LoadedProgram::FromMessage(builder.message()).status();
}

TEST_CASE("exchanges may begin together where none is in another one's way") {
  CHECK_THAT(Joined({"ab", "cd", "ef"}), IsOk());
  CHECK_THAT(Joined({"ab", "ac", "ad"}), IsOk());  // one memory is read by several
  CHECK_THAT(Joined({"aa", "bb"}), IsOk());        // each in its own place
  const auto refused = [](const absl::Status& status, const std::string& words) {
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, words));
  };
  refused(Joined({"ab", "cd", "be"}),
          "instruction 2 (exchange of b for e) begins with instruction 0 (");
  refused(Joined({"ab", "cd", "ea"}), "begins with instruction 0 ");
  refused(Joined({"ab", "cb"}), "begins with instruction 0 ");
  refused(Joined({"ab", "bb"}), "begins with instruction 0 ");
  refused(Joined({"ba", "bb"}), "begins with instruction 0 ");
  // Half of the slots of d and f are the same.
  const auto overlap = [](program::Program& p) {
    p.mutable_buffers(5)->set_offset(p.buffers(3).offset() + 32);
  };
  refused(Joined({"ab", "cd", "ef"}, overlap), "begins with instruction 1 ");
  refused(Joined({"ab", "cd", "fa"}, overlap), "begins with instruction 1 ");
  refused(
      Joined({"ab", "cd"}, [](program::Program& p) { p.mutable_instructions(0)->set_joins(true); }),
      "instruction 0 (exchange of a for b) joins no exchange before it");
  refused(
      Joined({"ab", "cd"},
             [](program::Program& p) {
               for (const auto& [name, begin] : {std::pair<const char*, int>{"x", 0}, {"y", 1}}) {
                 p.add_entries()->set_name(name);
                 p.mutable_entries(p.entries_size() - 1)->set_begin(begin);
               }
             }),
      "joins no exchange before it");
  program::Program product = Sound();
  product.mutable_instructions(1)->set_joins(true);
  refused(LoadedProgram::FromMessage(product).status(), "joins no exchange before it");
  product = Sound();
  product.mutable_instructions(2)->set_joins(true);
  refused(LoadedProgram::FromMessage(product).status(), "joins no exchange before it");
}

TEST_CASE("an empty interval of an access may begin anywhere and moves nothing") {
  program::Program program = Sound();
  CallOf(program).clear_rows();
  program::Range* rows = KernelOf(program).mutable_operands(0)->mutable_box()->mutable_dims(0);
  for (int64_t& begin : *rows->mutable_begin()->mutable_values()) begin = int64_t{1} << 50;
  SetEnd(rows, int64_t{1} << 50);
  SetEnd(KernelOf(program).mutable_results(0)->mutable_box()->mutable_dims(0), 1);
  const auto loaded = LoadedProgram::FromMessage(program);
  REQUIRE_THAT(loaded, IsOk());
  auto session = OpenSession(*loaded);
  REQUIRE_THAT(session->Randomize(1), IsOk());
  CHECK_THAT(session->Step(), IsOk());
}

// A program that loads must also run without touching memory that is not its own.
void LoadAndRun(const std::string& bytes) {
  program::Program message;
  if (!message.ParseFromString(bytes)) return;
  const auto program = LoadedProgram::FromMessage(std::move(message));
  if (!program.ok()) {
    REQUIRE(!program.status().message().empty());
    return;
  }
  if ((*program)->message().arena_size() > 1 << 20 || (*program)->devices() > 64) return;
  RunOptions options;
  options.interleave = true;
  options.guards = true;
  auto session = Session::Open(*program, options);
  if (!session.ok() || !(*session)->Randomize(1).ok()) return;
  const absl::Status status = (*session)->Step();
  if (status.ok()) {
    for (const program::Port& port : (*program)->message().outputs()) {
      REQUIRE_THAT((*session)->Get(port.name()), IsOk());
    }
  }
}

TEST_CASE("flipped bits, cut ends and swapped bytes never crash") {
  const std::string sound = Sound().SerializeAsString();
  std::mt19937 random(11);
  for (size_t end = 0; end < sound.size(); end += 3) LoadAndRun(sound.substr(0, end));
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = sound;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    }
    if (round % 4 == 0) std::swap(bytes[random() % bytes.size()], bytes[random() % bytes.size()]);
    LoadAndRun(bytes);
  }
}

TEST_CASE("a broken object inside a program is refused") {
  program::Program program = Sound();
  program.mutable_functions(0)->clear_library();
  program.mutable_functions(0)->set_symbol("f");
  for (const std::string& object : {std::string(),
                                    std::string("\x7f"
                                                "ELF"),
                                    std::string(4096, 'x')}) {
    program.set_code(object);
    const auto session = Session::Open(*LoadedProgram::FromMessage(program), {});
    CHECK_THAT(session, StatusIs(absl::StatusCode::kInvalidArgument, "the program's object is"));
  }
}

TEST_CASE("a program for GPUs does not run on processors") {
  program::Program program;
  program.set_target("cuda");
  program.set_processor("sm_80");
  CHECK_THAT(CheckProcessor(program), StatusIs(absl::StatusCode::kInvalidArgument,
                                               "for a GPU (sm_80); run it with --backend cuda"));
}

}  // namespace
}  // namespace yuba::runtime
