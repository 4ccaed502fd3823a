// Descriptions used on shapes: the definitions, slots and types that come out, and the errors.
#include "opsemantics/elaborate/elaborate.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "opsemantics/language/parser.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

using Dims = std::vector<int64_t>;
using Operands = std::vector<absl::optional<Shape>>;

Shape F32(Dims dims) { return {ElementType::kF32, std::move(dims)}; }
Shape F16(Dims dims) { return {ElementType::kF16, std::move(dims)}; }
Shape I64(Dims dims) { return {ElementType::kI64, std::move(dims)}; }

OpDescription Description(const std::string& text) {
  auto ops = ParseFile("test.tdl", text);
  REQUIRE_THAT(ops, IsOk());
  return (*ops)[0];
}

Instance Use(const std::string& text, const Operands& operands, const Attributes& attributes = {}) {
  auto instance = Elaborate(Description(text), operands, attributes);
  INFO(text);
  REQUIRE_THAT(instance, IsOk());
  return *std::move(instance);
}

std::string Definitions(const Instance& instance) {
  std::string shown;
  for (const SlotDefinition& definition : instance.definitions) {
    shown += ToString(definition.definition) + "\n";
  }
  return shown;
}

std::string ErrorOf(const std::string& text, const Operands& operands,
                    const Attributes& attributes = {}) {
  auto instance = Elaborate(Description(text), operands, attributes);
  return instance.ok() ? "no error" : std::string(instance.status().message());
}

void CheckError(const std::string& text, const Operands& operands, const std::string& part,
                const Attributes& attributes = {}) {
  const std::string error = ErrorOf(text, operands, attributes);
  INFO(error);
  CHECK(error.find(part) != std::string::npos);
}

constexpr char kConv[] =
    "op c(x[b, (g ci), h..], f[(g co), ci, k..], opt bias[(g co)]; stride.. = 1, lo.. = 0, hi.. = "
    "0)\n"
    "  -> y[b, (g co), w..]\n"
    "  let w.. = (h + lo + hi - k)/stride + 1\n"
    "  z[n, (a o), p..: w..] = sum(c: ci, u..: k..)\n"
    "    (x[n, (a c), (p*stride + u - lo)..] else 0) * f[(a o), c, u..]\n"
    "  y[n, (a o), p..] = z[n, (a o), p..] + bias[(a o)]\n";

}  // namespace

TEST_CASE("packs of any rank, repeated extents") {
  const char* text =
      "op m(a[p.., i, k], b[p.., k, j]) -> c[p.., i, j]\n"
      "  c[n.., r, s] = sum(q: k) a[n.., r, q] * b[n.., q, s]\n";
  CHECK(Definitions(Use(text, {F32({3, 4}), F32({4, 5})})) ==
        "c[r: 3, s: 5] = sum(q: 4) x0[r, q] * x1[q, s]\n");
  CHECK(Definitions(Use(text, {F32({2, 7, 3, 4}), F32({2, 7, 4, 5})})) ==
        "c[n0: 2, n1: 7, r: 3, s: 5] = sum(q: 4) x0[n0, n1, r, q] * x1[n0, n1, q, s]\n");
  CheckError(text, {F32({3, 4}), F32({6, 5})},
             "operand 'b' (f32[6, 5]) has extent 6 here, not 4: k = 4 by operand 'a' (f32[3, 4])");
  CheckError(text, {F32({3, 4}), F32({1, 5})}, "has extent 1 here, not 4");  // no broadcast unasked
  CheckError(text, {F32({3}), F32({6, 5})},
             "operand 'a' (f32[3]) has 1 dimensions, which does not");
  CheckError(text, {F32({2, 3, 4}), F32({4, 5})}, "operand 'b' (f32[4, 5]) has 2 dimensions");
}

TEST_CASE("one factor is solved by division, windows are guarded only where they can leave") {
  const Instance guarded = Use(kConv, {F32({2, 4, 8}), F32({6, 2, 3}), absl::nullopt},
                               {{"stride", Dims{2}}, {"lo", Dims{1}}});
  CHECK(Definitions(guarded) ==
        "y[n: 2, a: 2, o: 3, p0: 4] = sum(c: 2, u0: 3) "
        "(x0[n, a, c, p0*2 + u0 - 1] else 0) * x1[a, o, c, u0]\n");
  REQUIRE(guarded.slots.size() == 3);
  CHECK(guarded.slots[0].dims == std::vector<Dims>{{2}, {2, 2}, {8}});
  CHECK(guarded.slots[1].dims == std::vector<Dims>{{2, 3}, {2}, {3}});
  CHECK(guarded.slots[2].dims == std::vector<Dims>{{2}, {2, 3}, {4}});
  CHECK(guarded.slots[2].role == SlotRole::kOutput);
  CHECK(Definitions(Use(kConv, {F32({2, 4, 8}), F32({6, 2, 3}), absl::nullopt})) ==
        "y[n: 2, a: 2, o: 3, p0: 6] = sum(c: 2, u0: 3) x0[n, a, c, p0 + u0] * x1[a, o, c, u0]\n");
  CheckError(kConv, {F32({2, 5, 8}), F32({6, 2, 3})},
             "which is no multiple of 2: 'g' has no value");
  CheckError(kConv, {F32({2, 4, 2}), F32({6, 2, 7})}, "this extent would be -4");
  CheckError(kConv, {F32({2, 4, 8}), F32({6, 2, 3})}, "'h' has 1 elements, but 'stride' has 2",
             {{"stride", Dims{2, 2}}});
}

TEST_CASE("an absent operand leaves nothing behind") {
  const Instance with = Use(kConv, {F32({2, 4}), F32({6, 4}), F32({6})});
  CHECK(Definitions(with) ==
        "z[n: 2, a: 1, o: 6] = sum(c: 4) x0[n, a, c] * x1[a, o, c]\n"
        "y[n: 2, a: 1, o: 6] = x0[n, a, o] + x1[a, o]\n");
  // Left out at the end is the same as absent.
  CHECK(Definitions(Use(kConv, {F32({2, 4}), F32({6, 4})})) ==
        "y[n: 2, a: 1, o: 6] = sum(c: 4) x0[n, a, c] * x1[a, o, c]\n");
  const char* text = "op c(x[n], opt lo[] = least; least = -inf) -> y[n]  y[i] = max(x[i], lo[])";
  CHECK(Definitions(Use(text, {F32({3}), F32({})})) == "y[i: 3] = max(x0[i], x1[])\n");
  CHECK(Definitions(Use(text, {F32({3})})) == "y[i: 3] = x0[i]\n");
  CHECK(Definitions(Use(text, {I64({3})}, {{"least", 2.0}})) == "y[i: 3] = max(x0[i], 2)\n");
  CheckError(text, {I64({3})}, "the number 0.5 is no i64", {{"least", 0.5}});
}

TEST_CASE("nested reductions become definitions, with the indices that are free in them") {
  const char* text =
      "op s(x[s.., n]) -> y[s.., n]\n"
      "  nograd m[i..] = max(j: n) x[i.., j]\n"
      "  y[i.., j] = exp(x[i.., j] - m[i..]) / (sum(k: n) exp(x[i.., k] - m[i..]))\n";
  const Instance instance = Use(text, {F32({2, 3})});
  CHECK(Definitions(instance) ==
        "nograd m[i0: 2] = max(j: 3) x0[i0, j]\n"
        "y.1[i0: 2] = sum(k: 3) exp(x0[i0, k] - x1[i0])\n"
        "y[i0: 2, j: 3] = exp(x0[i0, j] - x1[i0]) / x2[i0]\n");
  // A pack of no dimensions.
  CHECK(Definitions(Use(text, {F32({3})})) ==
        "nograd m[] = max(j: 3) x0[j]\n"
        "y.1[] = sum(k: 3) exp(x0[k] - x1[])\n"
        "y[j: 3] = exp(x0[j] - x1[]) / x2[]\n");
  CHECK(instance.definitions[2].operands == std::vector<int>{0, 2, 3});
  CHECK(instance.slots[3].name == "y.1");
  CHECK(instance.slots[3].role == SlotRole::kInternal);
}

TEST_CASE("sums of narrow floats are kept wide") {
  const char* text = "op s(x[n]) -> y[n]  t[] = sum(j: n) x[j]  y[i] = x[i] / t[]";
  const Instance instance = Use(text, {F16({5})});
  CHECK(Definitions(instance) ==
        "t[] = sum(j: 5) cast(x0[j], f32)\n"
        "y[i: 5] = cast(cast(x0[i], f32) / x1[], f16)\n");
  CHECK(instance.slots[2].type == ElementType::kF32);
  CHECK(Definitions(Use("op s(x[n]) -> y[]  y[] = sum(j: n) x[j]", {F16({5})})) ==
        "y[] = sum(j: 5) x0[j]\n");
}

TEST_CASE("NumPy's broadcasting: lower ranks, extents of 1") {
  const char* text = "op a(a[s..~], b[s..~]) -> y[s..]  y[i..] = a[i..] + b[i..]";
  CHECK(Definitions(Use(text, {F32({4, 1, 3}), F32({2, 3})})) ==
        "y[i0: 4, i1: 2, i2: 3] = x0[i0, 0, i2] + x1[i1, i2]\n");
  CHECK(Definitions(Use(text, {F32({}), F32({2})})) == "y[i0: 2] = x0[] + x1[i0]\n");
  CHECK(Definitions(Use(text, {F32({1}), F32({0})})) == "y[i0: 0] = x0[0] + x1[i0]\n");
  CheckError(text, {F32({4, 3}), F32({2, 3})}, "(1 would be broadcast)");
  CheckError(text, {F32({3}), I64({3})}, "the operand 'b' is i64, but f32 as of 'a' is needed");
}

TEST_CASE("conditions become constraints, or conditions on data") {
  CHECK(Definitions(Use("op c(x[n]) -> y[n]  y[i] = sum(j: n where j <= i) x[j]", {F32({4})})) ==
        "y[i: 4] = sum(j: 4 where -i + j <= 0) x0[j]\n");
  // What always holds is dropped.
  CHECK(Definitions(Use("op c(x[n]) -> y[n]  y[i] = sum(j: n where j < i + n) x[j]", {F32({4})})) ==
        "y[i: 4] = sum(j: 4) x0[j]\n");
  const Instance gather =
      Use("op g(t[v, d..], ids[s..]: int) -> y[s.., d..]\n"
          "  y[i.., c..] = pick(r: v where r == wrap(ids[i..], v)) t[r, c..]",
          {F32({7, 3}), I64({2})});
  CHECK(Definitions(gather) ==
        "y[i0: 2, c0: 3] = pick(r: 7 where r == wrap(x1[i0], 7)) x0[r, c0]\n");
  REQUIRE(gather.definitions[0].definition.data_where.size() == 1);
  CHECK(Definitions(Use("op t(x[p..], q[h..]; s.. = 1) -> y[h..]\n"
                        "  y[j..] = sum(t..: p.. where (t*s + 1).. == j..) x[t..] * q[j..]",
                        {F32({4}), F32({9})}, {{"s", Dims{2}}})) ==
        "y[j0: 9] = sum(t0: 4 where -j0 + t0*2 + 1 == 0) x0[t0] * x1[j0]\n");
  CheckError("op g(x[n]) -> y[n]  y[i] = sum(j: n where j == x[i]) x[j]", {F32({4})},
             "a condition compares two affine index expressions, or one with an integer");
  CheckError("op g(x[n], ids[n]: int) -> y[n]  y[i] = x[ids[i]]", {F32({4}), I64({4})},
             "a position cannot come from data; read with a condition");
}

TEST_CASE("reads stay inside their tensors") {
  const char* shifted = "op p(x[n]; d = 1) -> y[n]  y[i] = x[i + d]";
  CheckError(shifted, {F32({4})},
             "test.tdl:1:37: this can leave 'x': it runs over [1, 5), the extent is 4");
  CHECK(ErrorOf(shifted, {F32({4})}, {{"d", int64_t{0}}}) == "no error");
  CHECK(Definitions(Use("op c(a[m], b[n]) -> y[m + n]  y[j] = if j < m then a[j] else b[j - m]",
                        {F32({2}), F32({3})})) == "y[j: 5] = if j < 2 then x0[j] else x1[j - 2]\n");
  CheckError("op c(a[m], b[n]) -> y[m + n]  y[j] = if j <= m then a[j] else b[j - m]",
             {F32({2}), F32({3})}, "this can leave 'a'");
  // Steps: the last one read is 7 - 3*2.
  const char* slice = "op s(x[h]; n) -> y[n]  y[i] = x[7 - 2*i]";
  CHECK(ErrorOf(slice, {F32({8})}, {{"n", int64_t{4}}}) == "no error");
  CheckError(slice, {F32({8})}, "it runs over [-1, 8)", {{"n", int64_t{5}}});
  // What encloses a reduction does not narrow it: it is computed for every index.
  CheckError("op c(a[m, n]) -> y[m + 1]  y[j] = if j < m then 2 * (sum(k: n) a[j, k]) else 0",
             {F32({2, 3})}, "this can leave 'a'");
}

TEST_CASE("conditions on indices that are known are decided") {
  const char* text = "op t(x[n, m]; k = 0) -> y[n, m]  y[r, c] = if r + k <= c then x[r, c] else 0";
  CHECK(Definitions(Use(text, {F32({2, 3})})) ==
        "y[r: 2, c: 3] = if r <= c then x0[r, c] else 0\n");
  CHECK(Definitions(Use(text, {F32({2, 3})}, {{"k", int64_t{-1}}})) ==
        "y[r: 2, c: 3] = x0[r, c]\n");
  CHECK(Definitions(Use(text, {F32({2, 3})}, {{"k", int64_t{3}}})) == "y[r: 2, c: 3] = 0\n");
  const char* window =
      "op w(x[n]; k) -> y[n - k + 1]\n"
      "  y[p] = (sum(u: k) x[p + u]) / (min(p + k, n) - max(p, 0))";
  CHECK(Definitions(Use(window, {F32({5})}, {{"k", int64_t{3}}})) ==
        "y.1[p: 3] = sum(u: 3) x0[p + u]\ny[p: 3] = x0[p] / 3\n");
}

TEST_CASE("definitions with constants on the left are one map") {
  const char* text =
      "op r(x[s, (2 d)], c[d]) -> y[s, (2 d)]\n"
      "  y[i, (0 j)] = x[i, (0 j)] * c[j]\n  y[k, (1 l)] = x[k, (0 l)] - c[l]\n";
  CHECK(
      Definitions(Use(text, {F32({3, 8}), F32({4})})) ==
      "y[i: 3, part: 2, j: 4] = if part == 0 then x0[i, 0, j] * x1[j] else x0[i, 0, j] - x1[j]\n");
  const char* named =
      "op r(x[s, (2 d)]) -> y[s, (2 d)]\n"
      "  y[part, (0 j)] = x[part, (0 j)]\n  y[part, (1 j)] = 0\n";
  CHECK(Definitions(Use(named, {F32({3, 8})})) ==
        "y[part: 3, part1: 2, j: 4] = if part1 == 0 then x0[part, 0, j] else 0\n");
  CheckError("op r(x[s, (3 d)]) -> y[s, (3 d)]  y[i, (0 j)] = x[i, (0 j)]  y[i, (2 j)] = 0",
             {F32({3, 6})}, "cover 2 of 3 constants");
  CheckError("op r(x[(2 d)]) -> y[(2 d)]  y[(0 j)] = x[(0 j)]  y[(0 j)] = 0", {F32({6})},
             "another definition has the same constants");
  CheckError("op r(x[(2 d)]) -> y[(2 d)]  y[(0 j)] = x[(0 j)]  y[(2 j)] = 0", {F32({6})},
             "this factor has the extent 2, so no element 2");
}

TEST_CASE("factors of one dimension joined, and dimensions split") {
  CHECK(Definitions(Use("op r(x[b, n], w[h, d]) -> y[b, h, d]  y[i, a, c] = x[i, (a c)] + w[a, c]",
                        {F32({2, 12}), F32({3, 4})})) ==
        "y[i: 2, a: 3, c: 4] = x0[i, a*4 + c] + x1[a, c]\n");
  CHECK(Definitions(Use("op r(x[h..]; r..) -> y[(h r)..]  y[(p u)..] = x[p..]", {F32({2, 3})},
                        {{"r", Dims{4, 5}}})) == "y[p0: 2, u0: 4, p1: 3, u1: 5] = x0[p0, p1]\n");
}

TEST_CASE("extents that shapes leave open are given as attributes") {
  const char* text = "op r(x[s.., r..]) -> y[s..]  y[i..] = sum(j..: r..) x[i.., j..]";
  CheckError(text, {F32({2, 3, 4})}, "give the attribute 's' as the list of its extents");
  CHECK(Definitions(Use(text, {F32({2, 3, 4})}, {{"r", Dims{3, 4}}})) ==
        "y[i0: 2] = sum(j0: 3, j1: 4) x0[i0, j0, j1]\n");
  CheckError(text, {F32({2, 3, 4})}, "r = 5 by attribute 'r'", {{"r", Dims{3, 5}}});
  const char* factors = "op f(x[(g c)]) -> y[c, g]  y[j, i] = x[(i j)]";
  CheckError(factors, {F32({12})}, "the extent 'g' cannot be told from the operands");
  CHECK(Definitions(Use(factors, {F32({12})}, {{"g", int64_t{3}}})) ==
        "y[j: 4, i: 3] = x0[i, j]\n");
  CheckError(factors, {F32({12})},
             "has no attribute 'z'; it has none, besides the extents c, g. Attributes stand behind "
             "the operands: '; z'",
             {{"z", int64_t{3}}});
}

TEST_CASE("a pick of which several terms may hold is refused") {
  const std::string before = "op f(x[n], at[m]: int, w[m]) -> y[n]  y[r] = ";
  const Shape integers = I64({3});
  const Operands types = {F32({4}), integers, F32({3})};
  const std::string why = "pick takes the one term whose conditions hold";
  CheckError(before + "pick(j: m where at[j] == 1) w[j]", types, why);
  CheckError("op f(x[n, k], at[m]: int) -> y[m]  y[j] = pick(r: n, c: k where r == at[j]) x[r, c]",
             {F32({4, 2}), integers}, why);
  CheckError(before + "pick(j: m where r == wrap(at[j], n)) w[j]", types, why);
  CheckError(before + "pick(j: m where j <= at[0]) w[j]", types, why);
  CHECK(Definitions(Use(before + "sum(j: m where r == wrap(at[j], n)) w[j]", types)) ==
        "y[r: 4] = sum(j: 3 where r == wrap(x1[j], 4)) x0[j]\n");
  CHECK(Definitions(Use("op f(x[n], at[m]: int) -> y[m]  y[j] = pick(r: n where r == at[j]) x[r]",
                        {F32({4}), integers})) == "y[j: 3] = pick(r: 4 where r == x1[j]) x0[r]\n");
}

TEST_CASE("a pick of one term may have more conditions, which leave it out") {
  const std::vector<std::string> masks = {"r == j, at[j] <= 3", "r == j, at[r] == 1",
                                          "r == at[j], r <= j"};
  for (const std::string& mask : masks) {
    const std::string text =
        "op f(x[n], at[n]: int) -> y[n]  y[j] = pick(r: n where " + mask + ") x[r]";
    CHECK(Definitions(Use(text, {F32({4}), I64({4})})).find("pick(r: 4 where ") !=
          std::string::npos);
  }
}

TEST_CASE("states have next values") {
  const Instance instance =
      Use("op s(x[n], state m[n]; rate = 0.5) -> m'[n]\n"
          "  nograd m'[i] = rate*m[i] + (1 - rate)*x[i]",
          {F32({3}), F32({3})});
  CHECK(instance.slots[1].state);
  CHECK(instance.slots[2].state);
  CHECK(instance.slots[2].name == "m'");
  CHECK(instance.definitions[0].definition.nograd);
}

TEST_CASE("types are checked") {
  CheckError("op f(x[n]: int) -> y[n]  y[i] = exp(x[i])", {I64({3})},
             "'exp' needs a float, not i64");
  CheckError("op f(x[n]: int) -> y[n]  y[i] = x[i]", {F32({3})},
             "the operand 'x' is f32, but an integer type is needed");
  CheckError("op f(x[n], k[n]: int) -> y[n]  y[i] = x[i] * k[i]", {F32({3}), I64({3})},
             "the types f32 and i64 meet here; write cast(...)");
  CheckError("op f(x[n]: int) -> y[n]  y[i] = x[i] * 0.5", {I64({3})}, "is no i64; write cast");
  CheckError("op f(x[n]) -> y[]: i32  y[] = argmax(j: n) x[j]", {F32({3})}, "give an i64");
  CheckError("op f(x[n]) -> y[n]  y[i] = if x[i] then 1 else 0", {F32({3})},
             "the condition of an 'if' is a bool");
  CheckError("op f(x[n]) -> y[n]  y[i] = x[i] < 0", {F32({3})}, "this is bool, but f32 is needed");
  CHECK(Definitions(Use("op f(x[n], k[n]: int; to: type) -> y[n]: to\n"
                        "  y[i] = cast(x[i] * cast(k[i], f32) + i, to)",
                        {F32({3}), I64({3})}, {{"to", ElementType::kI32}})) ==
        "y[i: 3] = cast(x0[i] * cast(x1[i], f32) + cast(i, f32), i32)\n");
  CHECK(Use("op f(n[s..]) -> y[s..]: bool  y[i..] = n[i..] == 0", {I64({3})}).slots[1].type ==
        ElementType::kBool);
}

TEST_CASE("attributes are checked") {
  const char* text = "op f(x[n]; a: int, b.. = 1, c: float = 2) -> y[n]  y[i] = x[i] * (a * c)";
  CheckError(text, {F32({3})}, "the attribute 'a' must be given");
  CheckError(text, {F32({3})}, "the attribute 'a' needs an integer", {{"a", 0.5}});
  CheckError(text, {F32({3})}, "the attribute 'a' needs one value, not a list", {{"a", Dims{1}}});
  CheckError(text, {F32({3})}, "needs a number, not a type", {{"a", ElementType::kF32}});
  CHECK(Definitions(Use(text, {F32({3})}, {{"a", 3.0}})) == "y[i: 3] = x0[i] * 6\n");
  const char* share = "op f(x[n]; a: fraction = 0.5) -> y[n]  y[i] = x[i] * a";
  for (const double outside : {-0.5, 1.5, std::nan("")})
    CheckError(share, {F32({3})}, "'a' needs a number from 0 to 1, not ", {{"a", outside}});
  CHECK(Definitions(Use(share, {F32({3})}, {{"a", int64_t{1}}})) == "y[i: 3] = x0[i]\n");
  CheckError(text, {}, "'f' takes 1 operands, not 0");
  CheckError(text, {absl::nullopt}, "the operand 'x' is missing");
  CheckError(text, {F32({-1})}, "no extent is below 0");
}

TEST_CASE("numbers that do not fit are errors") {
  const Dims huge = {int64_t{1} << 40, int64_t{1} << 40};
  CheckError("op f(x[n, m]) -> y[m, n]  y[i, j] = x[j, i]", {F32(huge)}, "overflows 64 bits");
  CheckError("op f(x[n]; s) -> y[n]  y[i] = (x[i*s] else 0)", {F32({4})}, "too large numbers",
             {{"s", int64_t{1} << 60}});
  CheckError("op f(x[n]; s) -> y[n*s]  y[i] = 1", {F32({4})}, "integers overflow 64 bits here",
             {{"s", int64_t{1} << 62}});
  CheckError("op f(x[n]; s) -> y[n/s]  y[i] = 1", {F32({4})}, "this divides by 0",
             {{"s", int64_t{0}}});
  CheckError("op f(x[n]; s) -> y[n - s]  y[i] = 1", {F32({4})},
             "this extent would be -1; the operands or attributes do not fit each other "
             "(n = 4, s = 5)",
             {{"s", int64_t{5}}});
}

TEST_CASE("an opaque operator becomes one definition that calls its function") {
  const char* text =
      "opaque argsort(x[n, s..]; down: bool = 0) -> at[s.., n]: i64 cuts s flops 2*n + 0.5";
  const Instance instance = Use(text, {F32({8, 4, 3})}, {{"down", int64_t{1}}});
  CHECK(Definitions(instance) ==
        "at[s0: 4, s1: 3, n: 8] = opaque argsort(n.1: 8; 1) x0[n.1, s0, s1]\n");
  CHECK(instance.definitions[0].definition.opaque.flops == 17);
  CHECK(Definitions(Use(text, {F32({1})})) == "at[n: 1] = opaque argsort(n.1: 1; 0) x0[n.1]\n");
  CheckError("opaque argsort(x[s, n, m]; d = 0) -> at[s, n]: i64 cuts s flops n", {F32({4, 8, 2})},
             "'argsort': it sorts along one dimension that is not cut, not 2");
  CheckError("opaque argsort(x[s, n]; d = 0) -> at[s, n] cuts s flops n", {F32({4, 8})},
             "'argsort': its result is i64");
  CheckError("opaque argsort(x[s, n]; d: int) -> at[s, n]: i64 cuts s flops n", {F32({4, 8})},
             "takes integers below 2^53", {{"d", int64_t{1} << 53}});
}

TEST_CASE("the operations of a call that are no number are none") {
  const auto flops = [](int64_t n) {
    return Use("opaque argsort(x[s, n]; d = 0) -> at[s, n]: i64 cuts s flops n*log(n)",
               {F32({2, n})})
        .definitions[0]
        .definition.opaque.flops;
  };
  CHECK(flops(0) == 0);
  CHECK(flops(1) == 0);
  CHECK(flops(8) == 17);  // 16.6, rounded up
}

TEST_CASE("a random number is a function of three scalars and of its place") {
  const Instance map = Use("op f(x[b, n]) -> y[b, n]  y[i, j] = x[i, j] * rand()", {F32({4, 6})});
  CHECK(Definitions(map) == "y[i: 4, j: 6] = x0[i, j] * random(x1[] + x2[], x3[], i*6 + j)\n");
  std::vector<SlotRole> roles;
  for (const Slot& slot : map.slots) roles.push_back(slot.role);
  CHECK(roles == std::vector<SlotRole>{SlotRole::kOperand, SlotRole::kOutput, SlotRole::kSeed,
                                       SlotRole::kStep, SlotRole::kStream});
  for (size_t s = 2; s < map.slots.size(); ++s) {
    CHECK(map.slots[s].type == ElementType::kI64);
    CHECK(map.slots[s].dims.empty());
  }
  const Instance scalar = Use("op f(x[]) -> y[]  y[] = x[] + rand(3)", {F32({})});
  CHECK(Definitions(scalar) == "y[] = x0[] + random(x1[] + x2[], x3[] + 12884901888, 0)\n");
}

TEST_CASE("inside a reduction each term has a random number, whatever indices it names") {
  const Instance sum =
      Use("op f(x[b, n]) -> y[b]  y[i] = (sum(j: n) rand() * x[0, j]) * x[i, 0]", {F32({4, 6})});
  CHECK(Definitions(sum) ==
        "y.1[i: 4] = sum(j: 6) random(x0[] + x1[], x2[], i*6 + j) * x3[0, j]\n"
        "y[i: 4] = x0[i] * x1[i, 0]\n");
}

TEST_CASE("each rand of a text has a stream, however often its definition is read") {
  const std::string text =
      "op f(x[n]) -> y[n], z[n]  r[i: n] = rand()  y[i] = r[i] * x[i]  z[i] = r[i] - rand()";
  int streams = 0, seeds = 0;
  for (const Slot& slot : Use(text, {F32({5})}).slots) {
    streams += slot.role == SlotRole::kStream;
    seeds += slot.role == SlotRole::kSeed;
  }
  CHECK(streams == 2);
  CHECK(seeds == 1);
}

TEST_CASE("what no random number is made of in a use has no slot") {
  const std::string text =
      "op f(x[n], opt on[]: bool = 0) -> y[n]  r[i: n] = rand()\n"
      "  y[i] = if on[] then r[i] else x[i]";
  for (const Slot& slot : Use(text, {F32({5}), absl::nullopt}).slots)
    CHECK(slot.role != SlotRole::kStream);
}

TEST_CASE("the number that rand takes has 32 bits") {
  const std::string text = "op f(x[n]; s = 0) -> y[n]  y[i] = x[i] + rand(s)";
  CHECK(ErrorOf(text, {F32({5})}, {{"s", int64_t{4294967295}}}) == "no error");
  CheckError(text, {F32({5})}, "an integer from 0 to 4294967295", {{"s", int64_t{4294967296}}});
  CheckError(text, {F32({5})}, "an integer from 0 to 4294967295", {{"s", int64_t{-1}}});
  CheckError(text, {F32({5})}, "an integer from 0 to 4294967295", {{"s", 0.5}});
  const int64_t million = 1000000;
  CheckError("op f(x[a, b, c]) -> y[a, b, c]  y[i, j, k] = rand()",
             {F32({million, million, 5 * million})}, "more random numbers than 62 bits");
}

}  // namespace yuba
