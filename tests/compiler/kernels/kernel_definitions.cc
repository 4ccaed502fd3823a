#include "tests/compiler/kernels/kernel_definitions.h"

#include <limits>

#include "opsemantics/base/check.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::kernels {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2);
const Affine one = ConstantAffine(1);

ExprPtr Mul(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {std::move(a), std::move(b)}); }
ExprPtr Add(ExprPtr a, ExprPtr b) { return Call(Function::kAdd, {std::move(a), std::move(b)}); }

// y[i, u.., j] = x[j, v.., i], or their sum over j: kernels of 60 dimensions, of which two are
// longer than 1.
Definition OfManyDimensions(bool sum) {
  constexpr int kUnits = 58;
  std::vector<int64_t> extents(kUnits + 1, 1), read(kUnits, 1);
  extents[0] = 3;
  extents.push_back(5);
  read.insert(read.begin(), 5);
  read.push_back(3);
  std::vector<Affine> position;
  for (int d = kUnits + 1; d >= 0; --d) position.push_back(IndexAffine(d));
  return Define(extents, sum ? 2 : kUnits + 2, sum ? Reducer::kSum : Reducer::kNone, {read},
                Read(0, position));
}

std::vector<Definition> ProductsAndMaps() {
  return {
      OfManyDimensions(false),
      OfManyDimensions(true),
      Define({5, 9, 7}, 2, Reducer::kSum, {{5, 7}, {7, 9}}, Mul(Read(0, {i, k}), Read(1, {k, j}))),
      Define({5, 9, 7}, 2, Reducer::kSum, {{5, 7}, {9, 7}}, Mul(Read(0, {i, k}), Read(1, {j, k}))),
      Define({5, 9, 7}, 2, Reducer::kSum, {{7, 5}, {7, 9}}, Mul(Read(0, {k, i}), Read(1, {k, j}))),
      Define({5, 9}, 2, Reducer::kNone, {{5, 9}, {9}}, Add(Read(0, {i, j}), Read(1, {j}))),
      Define({5, 9}, 2, Reducer::kNone, {{9, 5}}, Read(0, {j, i})),
  };
}

const Affine l = IndexAffine(3), m = IndexAffine(4), n = IndexAffine(5), o = IndexAffine(6);
const Reducer kReducers[] = {Reducer::kSum, Reducer::kProd, Reducer::kMax,
                             Reducer::kMin, Reducer::kAny,  Reducer::kAll};

Affine C(int64_t constant) { return ConstantAffine(constant); }

Definition Typed(Definition definition, ElementType type) {
  definition.result.type = type;
  for (TensorType& operand : definition.operands) operand.type = type;
  return definition;
}

Definition Where(Definition definition, const Affine& expression, bool equality) {
  definition.where.push_back({expression, equality});
  return definition;
}

// y[i, j, k] = sum(l, m) (x[i, l, k*stride + m*dilation - low] else 0) * f[j, l, m]
Definition Conv1d(int64_t stride, int64_t dilation, int64_t low, int64_t width, int64_t extent,
                  ExprPtr otherwise = Number(0)) {
  return Define({2, 3, width, 4, 3}, 3, Reducer::kSum, {{2, 4, extent}, {3, 4, 3}},
                Mul(Read(0, {i, l, k * stride + m * dilation - C(low)}, std::move(otherwise)),
                    Read(1, {j, l, m})));
}

std::vector<Definition> Convolutions() {
  // y[i, j, k, l] = sum(m, n, o) (x[i, m, k*2 + n - 1, l + o*2 - 2] else 0) * f[j, m, n, o]
  const Definition conv2d = Define(
      {2, 3, 4, 6, 2, 3, 3}, 4, Reducer::kSum, {{2, 2, 8, 6}, {3, 2, 3, 3}},
      Mul(Read(0, {i, m, k * 2 + n - C(1), l + o * 2 - C(2)}, Number(0)), Read(1, {j, m, n, o})));
  return {Conv1d(1, 1, 0, 14, 16),
          Conv1d(1, 1, 1, 16, 16),
          Conv1d(2, 1, 1, 8, 16),
          Conv1d(3, 2, 2, 6, 17),
          Conv1d(1, 1, 1, 16, 16, Number(0.5)),
          conv2d};
}

std::vector<Definition> Pools() {
  const double infinity = std::numeric_limits<double>::infinity();
  const Affine at = j * 2 + k - one;
  std::vector<Definition> pools = {
      Define({3, 8, 3}, 2, Reducer::kMax, {{3, 15}}, Read(0, {i, at}, Number(-infinity))),
      Define({3, 8, 3}, 2, Reducer::kMin, {{3, 15}}, Read(0, {i, at}, Number(infinity))),
      Define({3, 8, 3}, 2, Reducer::kMax, {{3, 15}}, Read(0, {i, at}, Number(0))),
      Define({3, 8, 3}, 2, Reducer::kSum, {{3, 15}}, Read(0, {i, at}, Number(0)))};
  return pools;
}

std::vector<Definition> Reductions() {
  std::vector<Definition> definitions;
  for (Reducer reducer : kReducers) {  // any and all are of bools
    const bool logic = reducer == Reducer::kAny || reducer == Reducer::kAll;
    definitions.push_back(Define({3, 19}, 1, reducer, {{3, 19}}, Read(0, {i, j})));
    definitions.push_back(Define({19, 3}, 1, reducer, {{3, 19}}, Read(0, {j, i})));
    definitions.push_back(Define({19, 3, 2}, 1, reducer, {{2, 3, 19}}, Read(0, {k, j, i})));
    for (ElementType type :
         {ElementType::kF64, ElementType::kF16, ElementType::kBF16, ElementType::kI64,
          ElementType::kI32, ElementType::kI8, ElementType::kU8, ElementType::kBool,
          ElementType::kI16, ElementType::kU16, ElementType::kU32, ElementType::kU64}) {
      if (logic != (type == ElementType::kBool)) continue;
      definitions.push_back(Typed(Define({3, 5}, 1, reducer, {{3, 5}}, Read(0, {i, j})), type));
      definitions.push_back(Typed(Define({19, 5}, 1, reducer, {{5, 19}}, Read(0, {j, i})), type));
    }
  }
  for (Definition& definition : definitions) {
    if (definition.reducer == Reducer::kAny || definition.reducer == Reducer::kAll)
      definition = Typed(definition, ElementType::kBool);
  }
  definitions.push_back(Define({4, 3}, 0, Reducer::kSum, {{4, 3}}, Read(0, {i, j})));
  // Nothing to reduce, and nothing to write.
  definitions.push_back(Define({3, 0}, 1, Reducer::kMax, {{3, 0}}, Read(0, {i, j})));
  definitions.push_back(Define({0, 3}, 1, Reducer::kSum, {{0, 3}}, Read(0, {i, j})));
  // Partials of small floats are kept in f32.
  for (Definition wide : {Define({3, 19}, 1, Reducer::kSum, {{3, 19}}, Read(0, {i, j})),
                          Define({19, 3}, 1, Reducer::kMax, {{3, 19}}, Read(0, {j, i}))}) {
    wide.operands[0].type = ElementType::kF16;
    definitions.push_back(wide);
  }
  // A row longer than a tile of accumulators.
  definitions.push_back(
      Typed(Define({1300, 3}, 1, Reducer::kSum, {{3, 1300}}, Read(0, {j, i})), ElementType::kF16));
  return definitions;
}

std::vector<Definition> ArgReductions() {
  std::vector<Definition> definitions;
  for (Reducer reducer : {Reducer::kArgMax, Reducer::kArgMin}) {
    for (ElementType type : {ElementType::kF32, ElementType::kF16, ElementType::kI32}) {
      Definition last = Typed(Define({5, 9}, 1, reducer, {{5, 9}}, Read(0, {i, j})), type);
      Definition first = Typed(Define({9, 5}, 1, reducer, {{5, 9}}, Read(0, {j, i})), type);
      Definition both = Typed(Define({3, 4, 5}, 1, reducer, {{4, 3, 5}}, Read(0, {j, i, k})), type);
      Definition window =
          Typed(Define({8, 3}, 1, reducer, {{8}}, Read(0, {i + j - one}, Number(-9, type))), type);
      for (Definition* definition : {&last, &first, &both, &window}) {
        definition->result.type = ElementType::kI64;
        definitions.push_back(*definition);
      }
    }
  }
  return definitions;
}

std::vector<Definition> ConstrainedLoops() {
  std::vector<Definition> definitions;
  // Triangles and bands.
  definitions.push_back(
      Where(Define({6, 9}, 1, Reducer::kMax, {{6, 9}}, Read(0, {i, j})), j - i - C(1), false));
  definitions.push_back(Where(
      Define({6, 9, 7}, 2, Reducer::kSum, {{6, 7}, {7, 9}}, Mul(Read(0, {i, k}), Read(1, {k, j}))),
      k - j + i * 2, false));
  // y[i] = sum(j where 3j == i) x[j], and between outputs only.
  definitions.push_back(
      Where(Define({10, 4}, 1, Reducer::kSum, {{4}}, Read(0, {j})), j * 3 - i, true));
  definitions.push_back(
      Where(Define({6, 6, 3}, 2, Reducer::kSum, {{6, 3}}, Read(0, {i, k})), i - j, true));
  // Reshapes: y[i, j] = pick(k, l where 5k + l == 3i + j) x[k, l].
  for (ElementType type : {ElementType::kF32, ElementType::kBF16, ElementType::kI8}) {
    definitions.push_back(
        Typed(Where(Define({10, 3, 6, 5}, 2, Reducer::kPick, {{6, 5}}, Read(0, {k, l})),
                    k * 5 + l - i * 3 - j, true),
              type));
  }
  definitions.push_back(Where(Define({3, 40, 24, 5}, 2, Reducer::kPick, {{24, 5}}, Read(0, {k, l})),
                              k * 5 + l - i * 40 - j, true));
  // Resize by 5/3: 3j <= 5i < 3j + 3.
  definitions.push_back(
      Where(Where(Define({7, 12}, 1, Reducer::kPick, {{12}}, Read(0, {j})), j * 3 - i * 5, false),
            i * 5 - j * 3 - C(2), false));
  return definitions;
}

// dx[i, j] = sum(k, l, m where m*stride + l*dilation - low == j) dy[i, k, m] * f[k, l]
Definition ConvGradient(int64_t stride, int64_t dilation, int64_t low, ElementType type) {
  Definition definition = Define({2, 20, 3, 3, 9}, 2, Reducer::kSum, {{2, 3, 9}, {3, 3}},
                                 Mul(Read(0, {i, k, m}), Read(1, {k, l})));
  definition.where.push_back({m * stride + l * dilation - C(low) - j, true});
  return Typed(definition, type);
}

std::vector<Definition> StridedGradients() {
  std::vector<Definition> definitions;
  for (ElementType type : {ElementType::kF32, ElementType::kF16, ElementType::kI32}) {
    for (int64_t stride : {1, 2, 3}) {
      for (int64_t dilation : {1, 2})
        for (int64_t low : {0, 2}) definitions.push_back(ConvGradient(stride, dilation, low, type));
    }
  }
  // In two dimensions: d[i, j] = sum(k, l, m, n where 2m + k - 1 == i, n + l == j) y[m, n] * f[k,
  // l]
  definitions.push_back(Where(Where(Define({9, 8, 3, 3, 4, 6}, 2, Reducer::kSum, {{4, 6}, {3, 3}},
                                           Mul(Read(0, {m, n}), Read(1, {k, l}))),
                                    m * 2 + k - C(1) - i, true),
                              n + l - j, true));
  return definitions;
}

ExprPtr Wrapped(ExprPtr index, int64_t extent) {
  return Call(Function::kWrap, {std::move(index), Integer(extent)});
}

std::vector<Definition> DataConditions() {
  std::vector<Definition> definitions;
  auto with = [&](Definition definition, Affine index, Function compare, bool reversed,
                  ExprPtr value, int integers) {
    definition.operands[integers].type = ElementType::kI64;
    definition.data_where.push_back({index, compare, reversed, std::move(value)});
    definitions.push_back(definition);
    definition.operands[integers].type = ElementType::kI32;
    definition = Typed(definition, ElementType::kF16);
    definition.operands[integers].type = ElementType::kI32;
    definitions.push_back(definition);
  };
  // Gather of rows, of elements, and of elements side by side.
  with(Define({4, 9, 6}, 2, Reducer::kPick, {{6, 9}, {4}}, Read(0, {k, j})), k, Function::kEq,
       false, Wrapped(Read(1, {i}), 6), 1);
  with(Define({4, 9, 6}, 2, Reducer::kPick, {{4, 6}, {4, 9}}, Read(0, {i, k})), k, Function::kEq,
       false, Wrapped(Read(1, {i, j}), 6), 1);
  // A sum of what indices name, which are several; one is offset.
  with(Define({4, 9, 6, 3}, 2, Reducer::kSum, {{6, 9}, {4, 3}}, Read(0, {k, j})), k, Function::kEq,
       false, Wrapped(Read(1, {i, l}), 6), 1);
  with(Define({4, 9, 6}, 2, Reducer::kSum, {{6, 9}, {4}}, Read(0, {k, j})), k + i - C(2),
       Function::kEq, false, Read(1, {i}), 1);
  // Scatter-add, of rows and of elements.
  with(Define({6, 9, 7}, 2, Reducer::kSum, {{7, 9}, {7}}, Read(0, {k, j})), i, Function::kEq, false,
       Wrapped(Read(1, {k}), 6), 1);
  with(Define({6, 9, 7}, 2, Reducer::kMax, {{7, 9}, {7, 9}}, Read(0, {k, j})), i, Function::kEq,
       false, Wrapped(Read(1, {k, j}), 6), 1);
  // Rows long enough that threads own columns.
  with(Define({6, 40, 7}, 2, Reducer::kSum, {{7, 40}, {7}}, Read(0, {k, j})), i, Function::kEq,
       false, Wrapped(Read(1, {k}), 6), 1);
  // Comparisons.
  with(Define({4, 9}, 1, Reducer::kSum, {{4, 9}, {4}}, Read(0, {i, j})), j, Function::kLt, false,
       Read(1, {i}), 1);
  with(Define({4, 9}, 1, Reducer::kSum, {{4, 9}, {4, 9}}, Read(0, {i, j})), j, Function::kLe, true,
       Read(1, {i, j}), 1);
  with(Define({4, 9}, 1, Reducer::kMax, {{4, 9}, {4}}, Read(0, {i, j})), j * 2 + one, Function::kEq,
       false, Read(1, {i}), 1);
  return definitions;
}

std::vector<Definition> ChainedLookups() {
  // y[i] = pick(j, k where j == a[i], k == b[j]) x[k]
  Definition definition = Define({5, 6, 7}, 1, Reducer::kPick, {{7}, {5}, {6}}, Read(0, {k}));
  definition.operands[1].type = definition.operands[2].type = ElementType::kI64;
  definition.data_where.push_back({k, Function::kEq, false, Wrapped(Read(2, {j}), 7)});
  definition.data_where.push_back({j, Function::kEq, false, Wrapped(Read(1, {i}), 6)});
  return {definition};
}

std::vector<Definition> ConstantPositions() {
  Definition definition = Define({5, 9}, 2, Reducer::kNone, {{5, 9}}, Read(0, {i, j}));
  definition.result.dims = {5, 4, 9};
  definition.left = {i, C(2), j};
  return {definition};
}

std::vector<Definition> Selects() {
  auto less = [](Affine a, int64_t b) { return Call(Function::kLt, {IndexValue(a), Integer(b)}); };
  auto select = [](ExprPtr condition, ExprPtr a, ExprPtr b) {
    return Call(Function::kSelect, {std::move(condition), std::move(a), std::move(b)});
  };
  std::vector<Definition> definitions = {
      // concat, along each dimension
      Define({5, 9}, 2, Reducer::kNone, {{5, 4}, {5, 5}},
             select(less(j, 4), Read(0, {i, j}), Read(1, {i, j - C(4)}))),
      Define({9, 5}, 2, Reducer::kNone, {{4, 5}, {5, 5}},
             select(less(i, 4), Read(0, {i, j}), Read(1, {i - C(4), j}))),
      // pad, slice with a step, reversal
      Define({5, 20}, 2, Reducer::kNone, {{3, 15}}, Read(0, {i - one, j - C(2)}, Number(1.5))),
      Define({5, 6}, 2, Reducer::kNone, {{12, 20}}, Read(0, {i * 2 + one, j * 3 + C(2)})),
      Define({5, 6}, 2, Reducer::kNone, {{5, 6}}, Read(0, {i, C(5) - j})),
      Define(
          {5, 6}, 2, Reducer::kNone, {{5, 6}, {6}},
          select(Call(Function::kLt, {Read(0, {i, j}), Number(0)}), Read(1, {j}), Read(0, {i, j}))),
      Define({5, 6}, 2, Reducer::kNone, {{5, 6}, {6}},
             select(Call(Function::kLe, {IndexValue(i), IndexValue(j)}), Read(0, {i, j}),
                    Number(-1e9)))};
  return definitions;
}

std::vector<Definition> Functions() {
  std::vector<Definition> definitions;
  const auto add = [&](const FunctionFacts& facts, ElementType type) {
    std::vector<ExprPtr> args = {Read(0, {i}), Read(1, {i})};
    args.resize(facts.arguments);
    const std::vector<std::vector<int64_t>> operands(facts.arguments, {43});
    Definition definition =
        Typed(Define({43}, 1, Reducer::kNone, operands, Call(facts.function, args)), type);
    if (facts.rule == TypeRule::kCompare) definition.result.type = ElementType::kBool;
    definitions.push_back(std::move(definition));
  };
  for (const FunctionFacts& facts : yuba::Functions()) {
    const TypeRule rule = facts.rule;
    if (rule == TypeRule::kLogic) add(facts, ElementType::kBool);
    if (rule != TypeRule::kNumber && rule != TypeRule::kFloat && rule != TypeRule::kCompare) {
      continue;
    }
    for (ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kF16,
                             ElementType::kI64, ElementType::kU8, ElementType::kBool,
                             ElementType::kI16, ElementType::kU32, ElementType::kU64}) {
      add(facts, type);
    }
  }
  return definitions;
}

std::vector<Definition> Casts() {
  std::vector<Definition> definitions;
  const ElementType types[] = {ElementType::kF64,  ElementType::kF32, ElementType::kF16,
                               ElementType::kBF16, ElementType::kI64, ElementType::kI32,
                               ElementType::kI8,   ElementType::kU8,  ElementType::kBool,
                               ElementType::kI16,  ElementType::kU16, ElementType::kU32,
                               ElementType::kU64};
  for (ElementType from : types) {
    for (ElementType to : types) {
      Definition definition =
          Define({43}, 1, Reducer::kNone, {{43}},
                 Cast(Mul(Read(0, {i}), from == ElementType::kBool ? Read(0, {i})
                                        : IsFloat(from)            ? Number(150.25, from)
                                                                   : Integer(1, from)),
                      to));
      definition.operands[0].type = from;
      definition.result.type = to;
      definitions.push_back(definition);
    }
  }
  return definitions;
}

std::vector<Definition> PiecesAndLiterals() {
  Definition indices = Define({5, 6}, 2, Reducer::kNone, {}, IndexValue(i * 10 + j - C(3)));
  indices.result.type = ElementType::kI64;
  return {
      Define({5, 19}, 1, Reducer::kSum, {{5, 19}, {5}},
             Call(Function::kExp, {Call(Function::kSub, {Read(0, {i, j}), Read(1, {i})})})),
      Define({5, 19}, 2, Reducer::kNone, {{5, 19}, {5}, {5}},
             Call(Function::kDiv,
                  {Call(Function::kExp, {Call(Function::kSub, {Read(0, {i, j}), Read(1, {i})})}),
                   Read(2, {i})})),
      Define({5, 19}, 1, Reducer::kSum, {{5, 19}, {5}},
             Call(Function::kSq, {Call(Function::kSub, {Read(0, {i, j}), Read(1, {i})})})),
      Define({5, 19}, 2, Reducer::kNone, {{5, 19}},
             Call(Function::kMax, {Mul(Read(0, {i, j}), Number(0.1)), Number(0)})),
      Define({5, 19}, 2, Reducer::kNone, {{5, 19}},
             Add(Mul(Read(0, {i, j}), IndexValue(j)), Number(0.1))),
      Typed(Define({5, 19}, 2, Reducer::kNone, {{5, 19}},
                   Mul(Read(0, {i, j}), Number(0.1, ElementType::kF16))),
            ElementType::kF16),
      indices,
      Define({}, 0, Reducer::kNone, {{}}, Call(Function::kExp, {Read(0, {})})),
      Define({7}, 1, Reducer::kNone, {}, Number(2.5)),
  };
}

// Operands 1 and 2 make the key, operand 3 is the count; operand 0 is what the body likes.
ExprPtr Random(const Affine& element) {
  return Call(Function::kRandom, {Add(Read(1, {}), Read(2, {})), Read(3, {}), IndexValue(element)});
}

std::vector<Definition> RandomNumbers() {
  const ExprPtr random = Random(i * 19 + j);
  const ExprPtr chosen = Call(
      Function::kSelect, {Call(Function::kLt, {random, Number(0.5)}), Number(0), Read(0, {i, j})});
  std::vector<Definition> definitions;
  for (const ExprPtr& body : {random, Mul(random, Read(0, {i, j})), chosen,
                              Random(i * (int64_t{1} << 33) + j * -1 + C(18))}) {
    definitions.push_back(Define({5, 19}, 2, Reducer::kNone, {{5, 19}, {}, {}, {}}, body));
  }
  // The 24 bits as an integer, which is compared without any tolerance.
  definitions.push_back(Define({5, 19}, 2, Reducer::kNone, {{5, 19}, {}, {}, {}},
                               Cast(Mul(random, Number(0x1p24)), ElementType::kI64)));
  definitions.back().result.type = ElementType::kI64;
  for (const int outputs : {0, 1}) {
    definitions.push_back(Define({5, 19}, outputs, Reducer::kSum, {{5, 19}, {}, {}, {}},
                                 Mul(random, Read(0, {i, j}))));
  }
  for (Definition& definition : definitions) {
    for (const int scalar : {1, 2, 3}) definition.operands[scalar].type = ElementType::kI64;
  }
  return definitions;
}

}  // namespace

const std::vector<DefinitionGroup>& KernelDefinitions() {
  static const auto& groups = *new std::vector<DefinitionGroup>{
      {"matrix products and maps", ProductsAndMaps(), 20},
      {"convolutions, with strides, dilation and padding", Convolutions(), 20},
      {"pooling", Pools(), 20},
      {"reductions over any dimension, by every reducer, of every type", Reductions(), 8},
      {"argmax and argmin are those of the first in order", ArgReductions(), 20},
      {"constraints between indices bound the loops", ConstrainedLoops(), 20},
      {"strided gradients", StridedGradients(), 10},
      {"conditions on data", DataConditions(), 20},
      {"two lookups in a chain", ChainedLookups(), 20},
      {"an element of the result that indices do not reach is left alone", ConstantPositions(), 20},
      {"selects on indices do not read the other side, selects on data may", Selects(), 20},
      {"every function, of floats and of integers", Functions(), 2},
      {"casts between all types", Casts(), 1},
      {"softmax and layer norm in pieces, indices as values, literals", PiecesAndLiterals(), 20},
      {"random numbers", RandomNumbers(), 20},
  };
  return groups;
}

const DefinitionGroup& FindGroup(const std::string& name) {
  for (const DefinitionGroup& group : KernelDefinitions())
    if (group.name == name) return group;
  YUBA_CHECK(false) << "no group of definitions is called " << name;
  return KernelDefinitions()[0];
}

}  // namespace yuba::kernels
