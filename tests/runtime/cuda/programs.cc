#include "tests/runtime/cuda/programs.h"

#include <map>

namespace yuba::cuda {
namespace {

// y = 2 x + 1 of a vector, by the calling convention of kernel_abi.h. The arguments are the range
// of the index, then origin and extent of x and of y.
const char kTwicePlusOne[] = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry twice_plus_one(.param .u64 buffers, .param .u64 arguments) {
  .reg .b64 %r<20>; .reg .b32 %t<4>; .reg .f32 %f<2>; .reg .pred %p;
  ld.param.u64 %r0, [buffers];    cvta.to.global.u64 %r0, %r0;
  ld.param.u64 %r1, [arguments];  cvta.to.global.u64 %r1, %r1;
  ld.global.u64 %r2, [%r0];       cvta.to.global.u64 %r2, %r2;
  ld.global.u64 %r3, [%r0+8];     cvta.to.global.u64 %r3, %r3;
  ld.global.u64 %r4, [%r1];
  ld.global.u64 %r5, [%r1+8];
  ld.global.u64 %r6, [%r1+16];
  ld.global.u64 %r7, [%r1+32];
  mov.u32 %t0, %ntid.x;  mov.u32 %t1, %ctaid.x;  mov.u32 %t2, %tid.x;  mov.u32 %t3, %nctaid.x;
  mul.wide.u32 %r8, %t1, %t0;  cvt.u64.u32 %r9, %t2;  add.s64 %r8, %r8, %r9;  add.s64 %r8, %r8, %r4;
  mul.wide.u32 %r10, %t3, %t0;
loop:
  setp.ge.s64 %p, %r8, %r5;
  @%p bra done;
  sub.s64 %r11, %r8, %r6;  shl.b64 %r11, %r11, 2;  add.s64 %r11, %r11, %r2;
  sub.s64 %r12, %r8, %r7;  shl.b64 %r12, %r12, 2;  add.s64 %r12, %r12, %r3;
  ld.global.f32 %f0, [%r11];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  st.global.f32 [%r12], %f0;
  add.s64 %r8, %r8, %r10;
  bra loop;
done:
  ret;
}
)";

}  // namespace

const std::vector<int64_t> kTurnedDims = {6, 7, 160};

std::vector<float> WholeNumbers(int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 97) - 40;
  return values;
}

void Call(const std::string& symbol, program::Program& program) {
  program.mutable_functions(0)->set_symbol(symbol);
  program.mutable_functions(0)->mutable_launches(0)->set_symbol(symbol);
}

runtime::ProgramBuilder TwicePlusOne(int devices) {
  runtime::ProgramBuilder builder({devices});
  const std::vector<Box> parts = runtime::CutAlong({kVectorLength}, 0, devices);
  const std::vector<Box> whole(devices, WholeBox({kVectorLength}));
  const int x = builder.AddBuffer("x", program::F32, {kVectorLength}, parts);
  const int y = builder.AddBuffer("y", program::F32, {kVectorLength}, parts);
  const int once = builder.AddBuffer("once", program::F32, {kVectorLength}, whole);
  const int again = builder.AddBuffer("again", program::F32, {kVectorLength}, whole);
  builder.AddInput("x", x);
  builder.AddOutput("y", once);
  builder.AddOutput("z", again);
  program::Function* function = builder.message().add_functions();
  function->set_symbol("twice_plus_one");
  program::ThreadLaunch* launch = function->add_launches();
  launch->set_symbol(function->symbol());
  launch->set_threads(256);
  launch->set_points(256);
  launch->add_indices(0);
  function->add_indices()->set_extent(kVectorLength);
  runtime::ProgramBuilder::AddDefinition(function, 1);
  builder.message().set_target("cuda");
  builder.message().set_processor("sm_75");
  builder.message().set_code(kTwicePlusOne);
  auto add_kernel = [&](int operand) {
    program::Kernel* kernel = builder.message().add_instructions()->mutable_kernel();
    kernel->add_node("y");
    kernel->add_from("");
    *kernel->add_indices() = builder.BoxTable(parts).dims(0);
    program::Access* access = kernel->add_operands();
    access->set_buffer(operand);
    *access->mutable_box() = builder.BoxTable(parts);
    program::Access* result = kernel->add_results();
    result->set_buffer(y);
    *result->mutable_box() = builder.BoxTable(parts);
  };
  add_kernel(x);
  builder.AddExchange(y, once);
  add_kernel(y);
  builder.AddExchange(y, again);
  return builder;
}

runtime::ProgramBuilder Turns(program::Reducer reducer) {
  runtime::ProgramBuilder builder({3});
  const std::vector<Box> whole(3, WholeBox(kTurnedDims));
  const int x =
      builder.AddBuffer("x", program::F32, kTurnedDims, runtime::CutAlong(kTurnedDims, 0, 3));
  const int turned =
      builder.AddBuffer("turned", program::F32, kTurnedDims, runtime::CutAlong(kTurnedDims, 1, 3));
  const int last =
      builder.AddBuffer("last", program::F32, kTurnedDims, runtime::CutAlong(kTurnedDims, 2, 3));
  const int copy = builder.AddBuffer("copy", program::F32, kTurnedDims, whole);
  const int combined = builder.AddBuffer("combined", program::F32, kTurnedDims,
                                         runtime::CutAlong(kTurnedDims, 1, 3));
  builder.AddInput("x", x);
  builder.AddOutput("copy", copy);
  builder.AddOutput("combined", combined);
  builder.AddExchange(x, turned);
  builder.AddExchange(turned, last);
  builder.AddExchange(last, copy);
  builder.AddReduction(copy, combined, reducer, 3, {2, 0, 1});
  return builder;
}

runtime::ProgramBuilder Tripled(int64_t length, int times) {
  runtime::ProgramBuilder builder({3});
  const std::vector<Box> whole(3, WholeBox({length}));
  const int x = builder.AddBuffer("x", program::F32, {length}, runtime::CutAlong({length}, 0, 3));
  const int copy = builder.AddBuffer("copy", program::F32, {length}, whole);
  builder.AddInput("x", x);
  builder.AddOutput("tripled", x);
  builder.AddExchange(x, copy);
  builder.AddReduction(copy, x, program::SUM, 3, {0, 1, 2});
  builder.Repeat(times);
  return builder;
}

std::vector<int64_t> ProductDims(const std::string& letters) {
  const std::map<char, int64_t> extents = {{'b', 3}, {'m', 5}, {'n', 4}, {'k', 8}, {'j', 2}};
  std::vector<int64_t> dims;
  for (char letter : letters) dims.push_back(extents.at(letter));
  return dims;
}

runtime::ProgramBuilder HalvedProduct(const ProductOrder& order) {
  runtime::ProgramBuilder builder({2});
  auto position = [](const std::string& letters, char letter) {
    const size_t found = letters.find(letter);
    return found == std::string::npos ? -1 : static_cast<int>(found);
  };
  auto halved = [&](const std::string& letters) {
    return runtime::CutAlong(ProductDims(letters), position(letters, 'k'), 2);
  };
  const std::vector<int64_t> dims = ProductDims(order.result);
  const std::vector<Box> whole(2, WholeBox(dims));
  const int left =
      builder.AddBuffer("left", order.type, ProductDims(order.left), halved(order.left));
  const int right =
      builder.AddBuffer("right", order.type, ProductDims(order.right), halved(order.right));
  const int made = builder.AddBuffer("made", order.made, dims, whole);
  const int result = builder.AddBuffer("result", order.type, dims, whole);
  program::LibraryCall call;
  call.set_left(0);
  call.set_right(1);
  std::vector<std::vector<Interval>> parts;
  for (const char letter : std::string("bmnkj")) {  // the indices
    if (position(order.left, letter) < 0 && position(order.right, letter) < 0) continue;
    auto* const role = letter == 'b'   ? call.mutable_batch()
                       : letter == 'm' ? call.mutable_rows()
                       : letter == 'n' ? call.mutable_columns()
                                       : call.mutable_inner();
    program::LibraryIndex* index = role->Add();
    index->set_index(static_cast<int>(parts.size()));
    index->set_left_dim(position(order.left, letter));
    index->set_right_dim(position(order.right, letter));
    index->set_result_dim(position(order.result, letter));
    const int64_t extent = ProductDims({letter})[0];
    if (letter == 'k')
      parts.push_back({PartOf(extent, 2, 0), PartOf(extent, 2, 1)});
    else
      parts.push_back({{0, extent}, {0, extent}});
  }
  builder.AddLibraryKernel(call, parts, {left, right}, made);
  builder.AddReduction(made, result, program::SUM, 2, {0, 1});
  builder.AddExchange(result, result)->set_from_first_only(true);
  builder.AddInput("left", left);
  builder.AddInput("right", right);
  builder.AddOutput("result", result);
  return builder;
}

const std::vector<int64_t> kConvolvedInput = {3, 8, 9}, kConvolvedFilter = {4, 3, 3, 2};

runtime::ProgramBuilder Convolved(program::ElementType type, program::ElementType made) {
  runtime::ProgramBuilder builder({1});
  const std::vector<int64_t> dims = {4, 6, 8};
  const int x = builder.AddBuffer("x", type, kConvolvedInput, {WholeBox(kConvolvedInput)});
  const int w = builder.AddBuffer("w", type, kConvolvedFilter, {WholeBox(kConvolvedFilter)});
  const int y = builder.AddBuffer("y", made, dims, {WholeBox(dims)});
  program::LibraryCall call;
  call.set_right(1);
  call.set_kind(program::LibraryCall::CONVOLUTION);
  call.add_columns()->set_left_dim(-1);
  program::LibraryIndex* in = call.add_inner();
  in->set_index(1);
  in->set_right_dim(1);
  in->set_result_dim(-1);
  std::vector<std::vector<Interval>> indices = {{{0, kConvolvedFilter[0]}},
                                                {{0, kConvolvedFilter[1]}}};
  for (int d = 0; d < 2; ++d) {
    program::LibraryWindow* window = call.add_windows();
    window->set_output(2 + 2 * d);
    window->set_kernel(3 + 2 * d);
    window->set_input(-1);
    window->set_stride(1);
    window->set_dilation(1);
    window->set_input_dim(1 + d);
    window->set_filter_dim(2 + d);
    window->set_output_dim(1 + d);
    indices.push_back({{0, dims[1 + d]}});
    indices.push_back({{0, kConvolvedFilter[2 + d]}});
  }
  builder.AddLibraryKernel(call, indices, {x, w}, y);
  builder.AddInput("x", x);
  builder.AddInput("w", w);
  builder.AddOutput("y", y);
  return builder;
}

runtime::ProgramBuilder Sorted(int64_t length, bool descending) {
  runtime::ProgramBuilder builder({2});
  const std::vector<int64_t> x_dims = {length, kSortedRows}, y_dims = {kSortedRows, length};
  const std::vector<Box> x_boxes = runtime::CutAlong(x_dims, 1, 2),
                         y_boxes = runtime::CutAlong(y_dims, 0, 2);
  const int x = builder.AddBuffer("x", program::F32, x_dims, x_boxes);
  const int y = builder.AddBuffer("y", program::I64, y_dims, y_boxes);
  builder.AddInput("x", x);
  builder.AddOutput("y", y);
  program::Function& function = *builder.message().add_functions();
  program::OpaqueCalls& opaque = *function.mutable_opaque();
  opaque.set_name("argsort");
  opaque.add_attributes(descending ? 1 : 0);
  program::OpaqueTensor& argument = *opaque.add_arguments();
  for (const int index : {2, 0}) argument.add_indices(index);
  for (const int index : {0, 1}) opaque.mutable_result()->add_indices(index);
  program::Kernel& kernel = *builder.message().add_instructions()->mutable_kernel();
  kernel.add_node("y");
  kernel.add_from("");
  for (int i = 0; i < 3; ++i) {  // the row, the place in y, the place in x
    program::FunctionIndex* index = function.add_indices();
    index->set_extent(i == 0 ? kSortedRows : length);
    index->set_reduction(i == 2);
    program::Range* range = kernel.add_indices();
    const Interval first = y_boxes[0][i == 0 ? 0 : 1], second = y_boxes[1][i == 0 ? 0 : 1];
    *range->mutable_begin() = builder.Table({first.begin, second.begin});
    *range->mutable_end() = builder.Table({first.end, second.end});
  }
  runtime::ProgramBuilder::AddDefinition(&function, 1);
  kernel.add_operands()->set_buffer(x);
  *kernel.mutable_operands(0)->mutable_box() = builder.BoxTable(x_boxes);
  kernel.add_results()->set_buffer(y);
  *kernel.mutable_results(0)->mutable_box() = builder.BoxTable(y_boxes);
  return builder;
}

}  // namespace yuba::cuda
