#include "tools/run/checkpoint/run_facts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "opsemantics/base/status.h"

namespace yuba::tools {
namespace {

using nlohmann::json;

// Names come from the user's model and need not be UTF-8.
std::string TextOf(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Fields of an object, each of which may be left out.
class FieldReader {
 public:
  explicit FieldReader(const json& object) : object_(object) {}

  void Read(const char* name, int64_t& number) {
    const json* field = Find(name);
    if (field == nullptr) return;
    if (!field->is_number_integer() || field->get<int64_t>() < 0) return Fail(name);
    number = field->get<int64_t>();
  }
  void Read(const char* name, absl::optional<uint64_t>& number) {
    const json* field = Find(name);
    if (field == nullptr) return;
    if (!field->is_number_unsigned()) return Fail(name);
    number = field->get<uint64_t>();
  }
  void Read(const char* name, std::string& text) {
    const json* field = Find(name);
    if (field == nullptr) return;
    if (!field->is_string()) return Fail(name);
    text = field->get<std::string>();
  }
  void Read(const char* name, std::map<std::string, std::string>& texts) {
    const json* field = Find(name);
    if (field == nullptr) return;
    if (!field->is_object()) return Fail(name);
    for (const auto& [key, value] : field->items()) {
      if (!value.is_string()) return Fail(name);
      texts[key] = value.get<std::string>();
    }
  }
  void Read(const char* name, std::set<std::string>& texts) {
    const json* field = Find(name);
    if (field == nullptr) return;
    if (!field->is_array()) return Fail(name);
    for (const json& text : *field) {
      if (!text.is_string()) return Fail(name);
      texts.insert(text.get<std::string>());
    }
  }
  void Read(const char* name, std::map<std::string, StoredForm>& forms) {
    const json* field = Find(name);
    if (field == nullptr) return;
    if (!field->is_object()) return Fail(name);
    for (const auto& [tensor, said] : field->items()) {
      StoredForm form;
      const bool read = said.is_object() && said.contains("of") && said["of"].is_array() &&
                        said.contains("blocks") && said["blocks"].is_array();
      if (!read) return Fail(name);
      form.kind = said.value("turned", false) ? StoredForm::kTransposed : StoredForm::kBlocks;
      for (const json& parameter : said["of"]) {
        if (!parameter.is_string()) return Fail(name);
        form.parameters.push_back(parameter.get<std::string>());
      }
      for (const json& block : said["blocks"]) {
        if (!block.is_number_unsigned()) return Fail(name);
        form.blocks.push_back(block.get<int>());
      }
      std::vector<int> places = form.blocks;
      std::sort(places.begin(), places.end());
      for (size_t i = 0; i < places.size(); ++i) {
        if (places[i] != static_cast<int>(i)) return Fail(name);
      }
      if (form.parameters.empty()) return Fail(name);
      forms[tensor] = std::move(form);
    }
  }
  const absl::Status& status() const { return status_; }

 private:
  const json* Find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  void Fail(const char* name) {
    status_ = UserError("its '", kFacts, "' has no '", name, "' that can be read");
  }

  const json& object_;
  absl::Status status_;
};

// Until flags were one table, the output of the loss and frozen rows had names of their own
// (docs/decisions/131-one-table-of-flags.md).
void UseTodaysNames(std::map<std::string, std::string>& settings) {
  if (const auto output = settings.extract("loss-output"); !output.empty()) {
    settings["loss"] += "@" + output.mapped();
  }
  if (auto rows = settings.extract("freeze-rows"); !rows.empty()) {
    rows.key() = "freeze";
    settings.insert(std::move(rows));
  }
}

}  // namespace

std::string FormatFacts(const RunFacts& facts) {
  json object = {{"epoch", facts.position.epoch}, {"seen", facts.position.seen},
                 {"batch", facts.batch},          {"data", facts.data},
                 {"settings", facts.settings},    {"frozen", facts.frozen}};
  if (facts.shuffle.has_value()) object["shuffle"] = *facts.shuffle;
  if (!facts.lr.empty()) object["lr"] = facts.lr;
  if (facts.tuning.has_value()) {
    object["tune"] = facts.tuning->file;
    object["tuned"] = facts.tuning->choices;
  }
  std::map<std::string, std::string> equal, transposed;
  for (const auto& [tied, to] : facts.ties) (to.transposed ? transposed : equal)[tied] = to.kept;
  if (!equal.empty()) object["ties"] = equal;
  if (!transposed.empty()) object["transposed"] = transposed;
  for (const auto& [tensor, form] : facts.forms) {
    if (form.kind == StoredForm::kUnknown) continue;
    object["forms"][tensor] = {{"of", form.parameters}, {"blocks", form.blocks}};
    if (form.kind == StoredForm::kTransposed) object["forms"][tensor]["turned"] = true;
  }
  return TextOf(object);
}

absl::StatusOr<RunFacts> ParseFacts(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return UserError("its '", kFacts, "' is no JSON object");
  RunFacts facts;
  FieldReader reader(object);
  reader.Read("epoch", facts.position.epoch);
  reader.Read("seen", facts.position.seen);
  reader.Read("batch", facts.batch);
  reader.Read("shuffle", facts.shuffle);
  reader.Read("lr", facts.lr);
  reader.Read("data", facts.data);
  reader.Read("settings", facts.settings);
  UseTodaysNames(facts.settings);
  reader.Read("frozen", facts.frozen);
  TuningFacts tuning;
  reader.Read("tune", tuning.file);
  reader.Read("tuned", tuning.choices);
  if (!tuning.choices.empty()) facts.tuning = std::move(tuning);
  std::map<std::string, std::string> equal, transposed;
  reader.Read("ties", equal);
  reader.Read("transposed", transposed);
  reader.Read("forms", facts.forms);
  YUBA_RETURN_IF_ERROR(reader.status());
  for (const auto& [tied, kept] : equal) facts.ties[tied] = {kept, false};
  for (const auto& [tied, kept] : transposed) facts.ties[tied] = {kept, true};
  return facts;
}

}  // namespace yuba::tools
