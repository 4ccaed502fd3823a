// Every description against values that do not come from its text: the cases in
// tests/models/operators. A description that no case reaches fails, and so does one in which a sign
// could be wrong without any case to notice.
#include <catch2/catch.hpp>
#include <cstddef>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/language/library.h"
#include "tests/compiler/cases/onnx_cases.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/opsemantics/support/custom_gradients.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

constexpr char kFolder[] = "tests/models/operators";
constexpr double kTolerance = 1e-5;

bool Passes(const std::string& folder, const OperatorLibrary& library) {
  const absl::StatusOr<double> error = ErrorOfCase(folder, RunCaseWhole, &library);
  return error.ok() && *error <= kTolerance;
}

bool Imports(const std::string& folder, const OperatorLibrary& library) {
  bool imported = false;
  const auto run = [&](const OnnxCase&) -> absl::StatusOr<std::vector<TensorValue>> {
    imported = true;
    return UserError("not run");
  };
  return !ErrorOfCase(folder, run, &library).ok() && imported;
}

// By description, those of `cases` that cannot be read where it fits no operand. Few cases need any
// of many descriptions, so these are tried together, then by halves.
void FindCasesThatReach(const std::vector<std::string>& names,
                        const std::vector<std::string>& cases,
                        std::map<std::string, std::vector<std::string>>& reach) {
  OperatorLibrary library = BuiltInLibrary();
  for (const std::string& name : names) {
    const std::string useless = absl::StrCat("op ", name, "(x[7919]) -> y[7919]\n  y[i] = x[i]\n");
    REQUIRE_THAT(library.Add("useless", useless, true), IsOk());
  }
  std::vector<std::string> reaching;
  for (const std::string& folder : cases) {
    if (!Imports(folder, library)) reaching.push_back(folder);
  }
  if (reaching.empty()) return;
  if (names.size() == 1) {
    reach[names.front()] = reaching;
    return;
  }
  const auto middle = names.begin() + static_cast<std::ptrdiff_t>(names.size() / 2);
  FindCasesThatReach({names.begin(), middle}, reaching, reach);
  FindCasesThatReach({middle, names.end()}, reaching, reach);
}

// Texts that differ in one place behind the name: plus for minus, max for min, and back; a sign
// left out.
std::vector<std::string> Faults(const std::string& text) {
  static const std::pair<std::string, std::string> kSwaps[] = {
      {"+", "-"}, {"-", "+"}, {"-", ""}, {"max", "min"}, {"min", "max"}};
  std::vector<std::string> faults;
  for (const auto& [from, to] : kSwaps) {
    for (size_t at = text.find('('); (at = text.find(from, at)) != std::string::npos;
         at += from.size()) {
      const bool arrow = text.compare(at, 2, "->") == 0;
      const bool part_of_name = absl::ascii_isalpha(from[0]) &&
                                (absl::ascii_isalnum(text[at - 1]) || text[at - 1] == '_');
      if (arrow || part_of_name) continue;
      faults.push_back(text);
      faults.back().replace(at, from.size(), to);
    }
  }
  return faults;
}

TEST_CASE("every operator gives the values that are expected") {
  const CaseCount count = RunCases(kFolder, RunCaseWhole, kTolerance);
  CHECK(count.passed > 0);
  CHECK(count.skipped.empty());
}

TEST_CASE("cases reach every description and notice every wrong sign in it") {
  std::vector<std::string> passing;
  for (const std::string& folder : CaseFolders(kFolder)) {
    if (Passes(folder, BuiltInLibrary())) passing.push_back(folder);
  }
  std::map<std::string, std::vector<std::string>> reach;
  FindCasesThatReach(BuiltInLibrary().Names(), passing, reach);
  int descriptions = 0, faults = 0;
  for (const std::string& name : BuiltInLibrary().Names()) {
    INFO(name);
    const std::vector<std::string>& cases = reach[name];
    if (cases.empty()) {
      FAIL_CHECK(name << ": no case in " << kFolder << " reaches it, so nothing holds its values");
      continue;
    }
    ++descriptions;
    for (const std::string& text : Faults(std::string(BuiltInLibrary().Find(name)->text()))) {
      OperatorLibrary library = BuiltInLibrary();
      if (!library.Add("fault", text, true).ok()) continue;  // no description
      ++faults;
      INFO(text);
      bool noticed = false;
      for (size_t i = 0; i < cases.size() && !noticed; ++i) noticed = !Passes(cases[i], library);
      noticed = noticed || !CompareCustomGradients(*library.Find(name)).equal;
      CHECK(noticed);
    }
  }
  std::cout << descriptions << " descriptions, " << faults << " faults\n";
  CHECK(faults > 100);
}

}  // namespace
}  // namespace yuba::compiler
