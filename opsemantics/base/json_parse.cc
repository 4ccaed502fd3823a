// A text becomes JSON: ParseJson of json_reader.h.
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/json_reader.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

// Follows a text as it is parsed, and notices a key that its object has already.
class KeyWatch {
 public:
  // The place of such a key, "cost.bytes"; "" where there is none.
  std::string See(nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    switch (event) {
      case Event::object_end:
      case Event::array_end: levels_.pop_back(); return "";
      case Event::key: {
        levels_.back().key = parsed.get<std::string>();
        return levels_.back().keys.insert(levels_.back().key).second ? "" : Place();
      }
      default: break;
    }
    if (!levels_.empty()) ++levels_.back().item;
    if (event != Event::value) levels_.push_back({event == Event::object_start, "", {}, -1});
    return "";
  }

 private:
  struct Level {
    bool object;
    std::string key;  // of an object: the last one
    absl::flat_hash_set<std::string> keys;
    int64_t item;  // of an array: the number of the last one
  };

  std::string Place() const {
    std::string place;
    for (const Level& level : levels_) {
      if (level.object) {
        absl::StrAppend(&place, place.empty() ? "" : ".", level.key);
      } else {
        absl::StrAppend(&place, "[", level.item, "]");
      }
    }
    return place;
  }

  std::vector<Level> levels_;
};

}  // namespace

absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text,
                                         const std::function<bool()>& stop) {
  constexpr int kValuesBetweenLooks = 1 << 12;
  struct End {
    absl::Status status;
  };
  int values = 0;
  KeyWatch keys;
  const auto look = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    if (depth > kMostLevels) {
      throw End{UserError("this is no JSON that is read: it is nested more than ", kMostLevels,
                          " levels deep")};
    }
    if (const std::string twice = keys.See(event, parsed); !twice.empty()) {
      throw End{UserError(twice, " is there twice: leave one of them")};
    }
    if (++values % kValuesBetweenLooks == 0 && stop != nullptr && stop()) {
      throw End{absl::CancelledError("the reading was stopped")};
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, look);
  } catch (const End& end) {
    return end.status;
  } catch (const nlohmann::json::exception& error) {
    const std::string what = error.what();
    const size_t end = what.find("] ");
    return UserError("this is no JSON: ", end == std::string::npos ? what : what.substr(end + 2));
  }
}

}  // namespace yuba
