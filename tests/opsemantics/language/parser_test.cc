// The grammar: what texts mean as trees, and what is said of texts that have no tree.
#include "opsemantics/language/parser.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

// The tree as text: every node in brackets of its kind.
std::string Shown(const Syntax& syntax);

std::string Shown(const std::vector<SyntaxPtr>& list) {
  std::string shown;
  for (const SyntaxPtr& part : list) shown += (shown.empty() ? "" : ", ") + Shown(*part);
  return shown;
}

std::string Shown(const Syntax& syntax) {
  switch (syntax.kind) {
    case Syntax::kNumber:
      return syntax.is_integer ? std::to_string(syntax.integer)
                               : std::to_string(syntax.number).substr(0, 5);
    case Syntax::kName: return syntax.name;
    case Syntax::kRead: return syntax.name + "[" + Shown(syntax.args) + "]";
    case Syntax::kElse: return "else(" + Shown(syntax.args) + ")";
    case Syntax::kCall: return syntax.name + "(" + Shown(syntax.args) + ")";
    case Syntax::kNegate: return "-(" + Shown(syntax.args) + ")";
    case Syntax::kBinary: return syntax.name + "(" + Shown(syntax.args) + ")";
    case Syntax::kIf: return "if(" + Shown(syntax.args) + ")";
    case Syntax::kPack: return "pack(" + Shown(syntax.args) + ")";
    case Syntax::kFactors: return "factors(" + Shown(syntax.args) + ")";
    case Syntax::kReduce: break;
  }
  std::string ranges;
  for (const IndexRange& range : syntax.ranges) {
    ranges += range.name + (range.pack ? ".." : "") + ": " + Shown(*range.extent) + "; ";
  }
  return syntax.name + "{" + ranges + Shown(syntax.where) + "}(" + Shown(syntax.args) + ")";
}

OpDescription ParseOne(const std::string& text) {
  auto ops = ParseSyntax("test.tdl", text);
  INFO(text);
  REQUIRE_THAT(ops, IsOk());
  REQUIRE(ops->size() == 1);
  return (*ops)[0];
}

std::string ParsedBody(const std::string& body) {
  return Shown(*ParseOne("op f(x[n]) -> y[n]\n y[i] = " + body).items[0].value);
}

std::string SyntaxErrorOf(const std::string& text) {
  auto ops = ParseSyntax("test.tdl", text);
  return ops.ok() ? "no error" : std::string(ops.status().message());
}

}  // namespace

TEST_CASE("expressions bind as written") {
  CHECK(ParsedBody("a + b*c - d/2") == "-(+(a, *(b, c)), /(d, 2))");
  CHECK(ParsedBody("-a*b") == "*(-(a), b)");
  CHECK(ParsedBody("(a + b)*c") == "*(+(a, b), c)");
  CHECK(ParsedBody("a + 1 < b*2") == "<(+(a, 1), *(b, 2))");
  CHECK(ParsedBody("if a < b then c else d + 1") == "if(<(a, b), c, +(d, 1))");
  CHECK(ParsedBody("if a then b else if c then d else e") == "if(a, b, if(c, d, e))");
  CHECK(ParsedBody("1e-5 + 0.25 + 4") == "+(+(0.000, 0.250), 4)");
}

TEST_CASE("a reducer takes a product, and its name is a function without a range") {
  CHECK(ParsedBody("sum(q: k) x[q] * 2 + 1") == "+(sum{q: k; }(*(x[q], 2)), 1)");
  CHECK(ParsedBody("max(j: n) x[j]") == "max{j: n; }(x[j])");
  CHECK(ParsedBody("max(x[i], 0)") == "max(x[i], 0)");
  CHECK(ParsedBody("max(j.., 0)") == "max(pack(j), 0)");
  CHECK(ParsedBody("sum(c: ci, u..: k.. where u.. <= h.., c == 2*i) x[c, u..]") ==
        "sum{c: ci; u..: pack(k); <=(pack(u), pack(h)), ==(c, *(2, i))}(x[c, pack(u)])");
  CHECK(ParsedBody("pick(r: v where r == wrap(ids[i], v)) t[r]") ==
        "pick{r: v; ==(r, wrap(ids[i], v))}(t[r])");
}

TEST_CASE("factors, packs and guarded reads") {
  CHECK(ParsedBody("x[(a c), (p*s - lo).., (u v)..]") ==
        "x[factors(a, c), pack(-(*(p, s), lo)), pack(factors(u, v))]");
  CHECK(ParsedBody("(x[i - 1] else -inf)") == "else(x[-(i, 1)], -(inf))");
  CHECK(ParsedBody("x[(0 c)]") == "x[factors(0, c)]");
  CHECK(ParsedBody("x[(a)]") == "x[a]");
}

TEST_CASE("signatures keep roles, types, defaults and broadcasts") {
  const OpDescription op = ParseOne(
      "# One line.\n# Another.\n"
      "op f(x[b, (g ci), h..], state m[b], opt o[b~, 4]: f32 = -1; k.., e: float = 0.5, t: type)\n"
      "  -> y[b, h + 1, ((h - k)/2)..]: t, m'[b]\n"
      "  let r.. = h + k\n  nograd m'[i] = m[i]\n  grad x[a, (c d), p..] = dy[a, 0, p..]\n");
  CHECK(op.comment == "One line.\nAnother.");
  CHECK(op.text().substr(0, 5) == "op f(");
  REQUIRE(op.params.size() == 3);
  CHECK(op.params[0].dims[1].element().kind == Syntax::kFactors);
  CHECK(op.params[0].dims[2].pack());
  CHECK(op.params[1].role == Param::kState);
  CHECK(op.params[2].role == Param::kOptional);
  CHECK(op.params[2].dims[0].broadcast);
  CHECK(op.params[2].type == "f32");
  CHECK(Shown(*op.params[2].absent) == "-(1)");
  REQUIRE(op.attributes.size() == 3);
  CHECK(op.attributes[0].pack);
  CHECK(op.attributes[0].value == nullptr);
  CHECK(op.attributes[1].type == "float");
  REQUIRE(op.outputs.size() == 2);
  CHECK(op.outputs[0].type == "t");
  CHECK(Shown(*op.outputs[0].dims[2].extent) == "pack(/(-(h, k), 2))");
  CHECK(op.outputs[1].name == "m'");
  REQUIRE(op.items.size() == 3);
  CHECK(op.items[0].kind == Item::kLet);
  CHECK(op.items[0].pack);
  CHECK(op.items[1].nograd);
  CHECK(op.items[2].kind == Item::kGradient);
}

TEST_CASE("an opaque operator has cuts and flops") {
  const OpDescription op =
      ParseOne("opaque c(a[s.., n, n]) -> l[s.., n, n] cuts s, n flops n*n*n/3");
  CHECK(op.opaque);
  CHECK(op.cuttable == std::vector<std::string>{"s", "n"});
  CHECK(Shown(*op.flops) == "/(*(*(n, n), n), 3)");
}

TEST_CASE("operands may be called opt and state") {
  const OpDescription op = ParseOne("op f(opt[n], state[n]) -> y[n]\n y[i] = opt[i] + state[i]");
  CHECK(op.params[0].name == "opt");
  CHECK(op.params[0].role == Param::kPlain);
}

TEST_CASE("syntax errors show file, line, column, the line and carets") {
  CHECK(SyntaxErrorOf("op f(x[n]) -> y[n]\n  y[i] = x[i] + * 2\n") ==
        "test.tdl:2:17: expected an expression, found '*'\n"
        "    y[i] = x[i] + * 2\n"
        "                  ^");
}

TEST_CASE("each syntax error says what is wrong") {
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(SyntaxErrorOf(text));
    CHECK(SyntaxErrorOf(text).find(part) != std::string::npos);
  };
  has("operator f", "expected 'op' or 'opaque', not 'operator'");
  has("op f(x[n]) -> y[n] y[i] = x[i] 5", "expected a definition, 'let', 'nograd' or 'grad'");
  has("op (", "expected the operator's name, found '('");
  has("op f(x[n) -> y[n]", "expected ']', found ')'");
  has("op f(x[n])", "expected '->', found the end of the file");
  has("op f(x[n]) -> y[n] y[i + 1] = x[i]", "the left side of '=' names indices");
  has("op f(x[n]) -> y[n] y[2] = x[i]", "the left side of '=' names indices");
  has("op f(x[n]) -> y[n] y[i] = sum(j: n where j != 2) x[j]", "a condition of 'where' is");
  has("op f(x[n]) -> y[n] y[i] = sum(j: n where j) x[j]", "a condition of 'where' is");
  has("op f(x[n]) -> y[n] y[i] = (x[i] + 1 else 0)", "'else' outside an 'if' follows a read");
  has("op f(x[n]) -> y[n] y[i] = x' + 1", "the next value of a state is a tensor");
  has("op f(x[n]) -> y[n] y[i] = x[i] > 0", "there is no '>'");
  has("op f(x[n]) -> y[n] { }", "there are no braces");
  has("op f(x[n]) -> y[n] y[i] = x[i] @ 2", "'@' means nothing here");
  has("op f(x[n]) -> y[n] y[i] = \xc3\xa4", "a description is ASCII text");
  has("op f(x[n]) -> y[n] y[i] = 99999999999999999999", "does not fit 64 bits");
  has("op f(x[n]) -> y[n] y[i] = 1e999", "does not fit a double");
  has("op f(x[n]) -> y[n] y[i] = x[(a b", "expected a factor (a name or an integer) or ')'");
  has("opaque f(x[n]) -> y[n]", "expected 'cuts', found the end of the file");
}

TEST_CASE("deep nesting is an error, not a crash") {
  const std::string head = "op f(x[n]) -> y[n]\n y[i] = ";
  for (const std::string open : {"(", "-", "f(", "x[", "if ", "sum(j: n) ", "max(x[i], "}) {
    std::string text = head;
    for (int i = 0; i < 100000; ++i) text += open;
    CHECK(SyntaxErrorOf(text).find("nested too deeply") != std::string::npos);
  }
  std::string sum = head + "1";
  for (int i = 0; i < 100000; ++i) sum += " + 1";
  CHECK(SyntaxErrorOf(sum).find("nested too deeply") != std::string::npos);
  std::string items = "op f(x[n]) -> y[n]\n";
  for (int i = 0; i < 5000; ++i) items += "let a" + std::to_string(i) + " = 1\n";
  CHECK(SyntaxErrorOf(items).find("more definitions than any real one") != std::string::npos);
}

TEST_CASE("a very long line is shown around the mistake only") {
  const std::string error =
      SyntaxErrorOf("op f(x[n]) -> y[n] y[i] = " + std::string(5000, ' ') + "*");
  CHECK(error.size() < 500);
  CHECK(error.find("*\n") != std::string::npos);
}

}  // namespace yuba
