// Each mistake in a description that can be seen without shapes has its message, at its place.
#include <string>

#include "catch2/catch.hpp"
#include "opsemantics/language/parser.h"

namespace yuba {
namespace {

std::string ErrorOf(const std::string& text) {
  auto ops = ParseFile("test.tdl", text);
  return ops.ok() ? "no error" : std::string(ops.status().message());
}

// The text above the carets.
std::string Underlined(const std::string& error) {
  const size_t carets = error.rfind('\n') + 1, line = error.rfind('\n', carets - 2) + 1;
  const size_t begin = error.find('^', carets) - carets;
  return error.substr(line + begin, error.size() - carets - begin);
}

struct Mistake {
  const char* text;
  const char* message;
  const char* underlined;
};

constexpr Mistake kMistakes[] = {
    // Names.
    {"op f(x[n]) -> y[n]  y[i] = x[q]", "there is no index, extent or attribute named 'q'", "q"},
    {"op f(x[n]) -> y[n]  y[i] = z[i]", "there is no tensor named 'z'", "z[i]"},
    {"op f(x[n]) -> y[n]  y[i] = x", "'x' is a tensor: read an element, as x[...]", "x"},
    {"op f(x[n]) -> y[n]  y[n] = x[n]", "'n' is already an extent here", "n"},
    {"op f(x[n]) -> y[n]  y[i] = sum(i: n) x[i]", "'i' is already an index here", "i: n"},
    {"op f(x[n], x[n]) -> y[n]  y[i] = x[i]", "'x' is already a tensor here", "x[n]"},
    {"op f(x[n]; n) -> y[n], y[n]  y[i] = x[i]", "'y' is already a tensor here", "y[n]"},
    {"op f(x[n]; a, a) -> y[n]  y[i] = x[i]", "'a' is already an attribute here", "a"},
    {"op f(x[n]) -> y[n]  let n = 2  y[i] = x[i]", "'n' is already an extent here", "n"},
    {"op f(x[n]) -> y[n]  y[inf] = x[inf]", "'inf' has a meaning of its own", "inf"},
    {"op f(x[x]) -> y[x]  y[i] = x[i]", "'x' is already an extent here", "x[x]"},
    {"op f(x[n], y[x]) -> z[n]  z[i] = x[i]", "'x' is a tensor, not an extent", "x"},
    {"op f(x[n]) -> y[n]  y[p.., p0] = x[p0]", "'y' has 1 dimensions", "y"},
    {"op f(x[n.., m]) -> y[n.., m]  y[p.., p0] = x[p.., p0]", "are too alike", "p0"},
    // Packs.
    {"op f(x[h..]) -> y[h..]  y[i] = x[i..]",
     "this is one dimension, but 'y' is declared with a pack", "i"},
    {"op f(x[h..]) -> y[h..]  y[i..] = x[i]", "this is one dimension, but 'x' has a pack", "i"},
    {"op f(x[h..]) -> y[h..]  y[i..] = x[i..] * h", "'h' is a pack; write h.., or put", "h"},
    {"op f(x[h..]) -> y[h..]  y[i..] = x[i..] + h..", "a pack cannot stand here", "h.."},
    {"op f(x[h..], z[h]) -> y[h..]  y[i..] = x[i..]", "'h' is a pack elsewhere", "h"},
    {"op f(x[h..]; s) -> y[h..]  y[i..] = x[(s + 1)..]", "there is none in this", "(s + 1).."},
    {"op f(x[h..]) -> y[h..]  y[i..] = sum(j..: 3) x[j..]", "a pack of indices runs over a pack",
     "j..: 3"},
    {"op f(x[h..]) -> y[h..]  y[i..] = x[(x[i..])..]", "a tensor cannot be read inside", "x[i..]"},
    // Tensors.
    {"op f(x[n, m]) -> y[n]  y[i] = x[i]",
     "'x' has 2 dimensions (a pack counts once), but is read with 1", "x[i]"},
    {"op f(x[(a b)]) -> y[a]  y[i] = x[i]", "this is one dimension, but 'x' has 2 factors", "i"},
    {"op f(x[n]) -> y[(n n)]  y[i] = x[i]", "but 'y' is declared with 2 factors", "i"},
    {"op f(x[n*2]) -> y[n]  y[i] = x[i]", "extents are found from it, not computed for it", "n*2"},
    {"op f(x[(a b)~]) -> y[a]  y[i] = 1", "can be broadcast with '~'", "(a b)~"},
    {"op f(x[n]) -> y[n~]  y[i] = x[i]", "an output's dimension cannot be broadcast", "n~"},
    {"op f(x[n] = 1) -> y[n]  y[i] = x[i]", "only an 'opt' operand has a value", "x[n] = 1"},
    // Definitions.
    {"op f(x[n]) -> y[n], z[n]  y[i] = x[i]", "the output 'z' is never defined", "z[n]"},
    {"op f(x[n]) -> y[n]  y[i] = x[i]  t[i] = x[i]", "'t' is neither an output nor read", "t"},
    {"op f(x[n]) -> y[n]  y[i] = x[i]  y[j] = x[j]", "'y' is defined twice", "y"},
    {"op f(x[n]) -> y[n]  y[i] = y[i]", "'y' is defined by way of itself", "y"},
    {"op f(x[n]) -> y[n]  y[i] = t[i]  t[i] = u[i]  u[i] = t[i]", "is defined by way of itself",
     "y"},
    {"op f(state m[n]) -> y[n]  y[i] = m[i]", "the state 'm' has no next value", "state m[n]"},
    {"op f(m[n]) -> m'[n]  m'[i] = m[i]", "there is no operand 'state m'", "m'[n]"},
    {"op f(x[n]) -> y[n]  y[i: x[0]] = x[i]", "only extents, attributes and lets can stand",
     "x[0]"},
    {"op f(x[n]) -> y[n]  y[i] = x[i]  grad z[i] = dy[i]", "'z' is no operand", "z"},
    {"op f(x[n]) -> y[n]  y[i] = x[i]  grad x[i] = dy[i]  grad x[i] = dy[i]",
     "'x' has two gradients", "x"},
    {"op f(x[n]) -> y[n]  t[i] = dy[i]  y[i] = x[i] + t[i]  grad x[i] = dy[i]",
     "'y' needs the gradient of an output", "y"},
    {"op f(x[n]) -> y[n]  y[i] = x[i] + dy[i]", "there is no tensor named", "dy[i]"},
    // Types and calls.
    {"op f(x[n]: f33) -> y[n]  y[i] = x[i]", "there is no type 'f33' of operands", "x[n]: f33"},
    {"op f(x[n]; a: f33) -> y[n]  y[i] = x[i]", "there is no type 'f33' of attributes", "a: f33"},
    {"op f(x[n]; a) -> y[n]: a  y[i] = x[i]", "'a' is neither an element type nor", "y[n]: a"},
    {"op f(x[n]) -> y[n]  y[i] = foo(x[i])", "there is no function 'foo'", "foo(x[i])"},
    {"op f(x[n]) -> y[n]  y[i] = exp(x[i], 2)", "exp takes 1 arguments, not 2", "exp(x[i], 2)"},
    {"op f(x[n]) -> y[n]  y[i] = size(n)", "size takes one pack, as size(h..)", "size(n)"},
    {"op f(x[n]; a = rand()) -> y[n]  y[i] = x[i]", "only extents, attributes and lets can stand",
     "rand()"},
    {"op f(x[n]) -> y[n]  y[i] = rand(x[i])", "only extents, attributes and lets can stand",
     "x[i]"},
    {"op f(x[n]) -> y[n]  y[i] = rand(1, 2)", "a number that tells uses apart, or nothing, not 2",
     "rand(1, 2)"},
    {"op f(x[n]) -> y[n]  y[i] = sum(j: n where j <= rand()) x[j]",
     "give it a definition of its own", "rand()"},
    {"op f(x[n..]) -> y[]  y[] = x[(rand() + n)..]", "give it a definition of its own", "rand()"},
    {"op f(x[n]; a = x[0]) -> y[n]  y[i] = x[i]", "only extents, attributes and lets can stand",
     "x[0]"},
    // Opaque operators.
    {"opaque f(x[n]) -> y[n] cuts n flops n",
     "no opaque function is called 'f'; there are: argsort; describe what it computes", "f"},
    {"opaque argsort(x[s, n]) -> y[n] cuts m flops n", "'m', which may be cut, is no extent",
     "argsort"},
    {"opaque argsort(x[s, n]) -> y[n] cuts s flops n", "'s', which may be cut, is not one dim",
     "argsort"},
    {"opaque argsort(x[n]; s) -> y[s, n] cuts s flops n", "'s', which may be cut, is no extent",
     "argsort"},
    {"opaque argsort(x[n], s[m]) -> y[n, m] cuts n, n flops n", "is said twice", "argsort"},
    {"opaque argsort(x[n, n]) -> y[n] cuts n flops n", "is two dimensions of an operand",
     "argsort"},
    {"opaque argsort(x[s, n]) -> y[s, n], z[s] cuts s flops n", "has one output", "z[s]"},
    {"opaque argsort(x[s~, n]) -> y[s, n] cuts s flops n", "is not broadcast", "s~"},
    {"opaque argsort(opt x[s, n]) -> y[s, n] cuts s flops n", "neither opt nor state",
     "opt x[s, n]"},
    {"opaque argsort(x[s, (n m)]) -> y[s, n] cuts s flops n", "sees no factors", "x[s, (n m)]"},
    {"opaque argsort(x[s, n]; a..) -> y[s, n] cuts s flops n", "no packs of attributes", "a.."},
    {"opaque argsort(x[s, n]) -> y[s, n] cuts s flops q", "no index, extent or attribute", "q"},
};

}  // namespace

TEST_CASE("each mistake is found, explained and underlined") {
  for (const Mistake& mistake : kMistakes) {
    const std::string error = ErrorOf(mistake.text);
    INFO(error);
    CHECK(error.find(mistake.message) != std::string::npos);
    CHECK(Underlined(error) == mistake.underlined);
  }
}

TEST_CASE("what is allowed is allowed") {
  // Definitions in any order; an index name used again in another definition; lets of lets.
  CHECK(ErrorOf("op f(x[n]) -> y[n]  let a = n*2  let b = a/2  y[i] = t[i]*b  t[i] = x[i]") ==
        "no error");
  // An attribute as a factor; a gradient; several definitions with constants.
  CHECK(ErrorOf("op f(x[(r c)]; r) -> y[c, r]  y[i, j] = x[(j i)]  grad x[(a b)] = dy[b, a]") ==
        "no error");
  CHECK(ErrorOf("op f(x[n]) -> y[(2 n)]  y[(0 i)] = x[i]  y[(1 i)] = -x[i]") == "no error");
  CHECK(ErrorOf("op f(x[n]; s = 0) -> y[n]  y[i] = rand() + rand(s)*(sum(j: n) rand() * x[j])") ==
        "no error");
}

}  // namespace yuba
