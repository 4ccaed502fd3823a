// Tensors that are parameters of a user's program in another form.
#include "opsemantics/values/stored_form.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "opsemantics/values/form_values.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

// 0, 1, 2, ... from `first` on.
TensorData Counted(const std::vector<int64_t>& dims, float first = 0) {
  TensorData tensor{ElementType::kF32, dims, ""};
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  for (int64_t i = 0; i < count; ++i) {
    const float value = first + static_cast<float>(i);
    tensor.data.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return tensor;
}

std::vector<double> Elements(const absl::StatusOr<TensorData>& tensor) {
  REQUIRE_THAT(tensor, IsOk());
  std::vector<double> elements;
  for (int64_t i = 0; i < static_cast<int64_t>(tensor->data.size()) / 4; ++i)
    elements.push_back(ValueAt(*tensor, i));
  return elements;
}

using Numbers = std::vector<double>;

constexpr ElementType kF32 = ElementType::kF32;

TEST_CASE("a parameter is put into the form of the file") {
  const StoredForm turned = {StoredForm::kTransposed, {"w"}, {}, "val_1"};
  CHECK(NameOf(turned) == "w, transposed");
  CHECK(Elements(InStoredForm(turned, kF32, {3, 2}, {Counted({2, 3})})) ==
        Numbers{0, 3, 1, 4, 2, 5});
  CHECK_THAT(InStoredForm(turned, kF32, {2, 3}, {Counted({2, 3})}), Fails("its transpose [2, 3]"));
  const StoredForm flat = {StoredForm::kReshaped, {"s"}, {}, "val_2"};
  CHECK(Elements(InStoredForm(flat, kF32, {1, 2, 1}, {Counted({2})})) == Numbers{0, 1});
  CHECK_THAT(InStoredForm(flat, kF32, {1, 3}, {Counted({2})}), Fails("2 elements"));
  const StoredForm gates = {StoredForm::kBlocks, {"ih", "hh"}, {1, 0, 2}, "val_3"};
  CHECK(NameOf(gates) == "ih and hh, joined");
  CHECK(Elements(InStoredForm(gates, kF32, {1, 12}, {Counted({6}), Counted({6}, 6)})) ==
        Numbers{2, 3, 0, 1, 4, 5, 8, 9, 6, 7, 10, 11});
  CHECK_THAT(InStoredForm(gates, kF32, {8}, {Counted({4}), Counted({4})}),
             Fails("no 3 equal parts"));
  const StoredForm renamed = {StoredForm::kRenamed, {"mean"}, {}, "mean_1"};
  CHECK(NameOf(renamed) == "mean_1");
  CHECK(IsCalled(renamed, "mean"));
  const StoredForm unknown = {StoredForm::kUnknown, {"u"}, {}, "val_4"};
  CHECK(NameOf(unknown) == "val_4");
  CHECK_THAT(InStoredForm(unknown, kF32, {2}, {Counted({2})}), Fails("the file does not tell"));
  for (const char* name : {"ih", "hh", "val_3", "ih and hh, joined"}) CHECK(IsCalled(gates, name));
  CHECK(!IsCalled(gates, "w"));
}

TEST_CASE("a value is found by any name of its tensor") {
  const StoredForm turned = {StoredForm::kTransposed, {"w"}, {}, "val_1"};
  const StoredForm joined = {StoredForm::kBlocks, {"a", "b"}, {}, "val_2"};
  std::map<std::string, StoredView> file;
  const auto find = [&](const std::string& name) -> absl::StatusOr<absl::optional<StoredView>> {
    const auto found = file.find(name);
    if (found == file.end()) return absl::optional<StoredView>();
    return absl::make_optional(found->second);
  };
  // Adds a tensor, which is all that a file of its own holds.
  const std::string folder = ScratchFolder("stored_form");
  const auto add = [&](const std::string& name, const TensorData& value) {
    const std::string path = folder + "/" + name;
    std::ofstream(path, std::ios::binary) << value.data;
    const auto bytes = static_cast<int64_t>(value.data.size());
    file[name].tensor = {value.type, value.dims, {path, 0, bytes, bytes}};
  };
  const auto lacks = [&](const StoredForm& form, const std::vector<int64_t>& dims) {
    const auto found = FindInForm(form, dims, find);
    REQUIRE_THAT(found, IsOk());
    return !found->view.has_value() && !found->made.has_value();
  };
  const auto read = [&](const StoredForm& form, const std::vector<int64_t>& dims) {
    const auto found = FindInForm(form, dims, find);
    REQUIRE_THAT(found, IsOk());
    return found->made.has_value() ? Elements(*found->made)
                                   : Elements(ReadView(found->view.value(), kF32));
  };
  CHECK(lacks(turned, {3, 2}));
  add("w", Counted({2, 3}));
  add("a", Counted({2}));
  CHECK(read(turned, {3, 2}) == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(lacks(joined, {4}));  // b is missing
  add("b", Counted({2}, 7));
  CHECK(read(joined, {4}) == Numbers{0, 1, 7, 8});
  add("val_1", Counted({3, 2}, 1));
  CHECK(read(turned, {3, 2}) == Numbers{1, 2, 3, 4, 5, 6});
}

}  // namespace
}  // namespace yuba
