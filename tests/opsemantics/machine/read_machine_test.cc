// Machine files are read, and each mistake in one is an error that names its place.
#include "opsemantics/machine/read_machine.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "opsemantics/base/files.h"
#include "opsemantics/machine/find_machine.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

using Json = nlohmann::json;

Json Constant(const Json& value) { return {{"value", value}, {"source", "a test"}}; }

// Nodes of two pairs of devices, at most 4 of them on one switch, at most 12 on the next.
Json Good() {
  const Json kernel = {{"start", 1e-6},
                       {"rate_share", 0.5},
                       {"bandwidth_share", 0.5},
                       {"half_rate", 0},
                       {"source", "a test"}};
  const Json kernels = {
      {"product", kernel}, {"convolution", kernel}, {"map", kernel}, {"reduction", kernel}};
  const auto link = [](const char* name, const char* reach, int number) {
    return Json{{"name", name},
                {reach, Constant(number)},
                {"latency", Constant(1e-6)},
                {"bandwidth", Constant(1e9)}};
  };
  Json json = {{"format", "yuba-machine/1"}, {"name", "small"}, {"price", Constant(2.5)}};
  json["device"] = {{"name", "G"},
                    {"memory", Constant(1000)},
                    {"reserved", Constant(100)},
                    {"bandwidth", Constant(1e10)},
                    {"launch", Constant(1e-6)},
                    {"issue", Constant(0)},
                    {"rates", {{"f32", Constant(1e9)}, {"bf16", Constant(4e9)}}},
                    {"kernels", {{"generated", kernels}, {"library", {{"product", kernel}}}}}};
  json["links"] = {link("pair", "devices", 2), link("node", "devices", 4),
                   link("switch", "most_nodes", 4), link("fabric", "most_nodes", 12)};
  json["links"][0]["tables"] = {{{"collective", "all_gather"},
                                 {"devices", 2},
                                 {"one_process", true},
                                 {"seconds", {{1000, 2e-5}, {2000, 1e-5}}},
                                 {"source", "a test"}}};
  return json;
}

// What is said where the value at `pointer` is another one.
absl::Status With(const std::string& pointer, const Json& value, int nodes = 1) {
  Json json = Good();
  json[Json::json_pointer(pointer)] = value;
  return ReadMachine(json.dump(), nodes).status();
}

absl::Status Without(const std::string& object, const std::string& field) {
  Json json = Good();
  json[Json::json_pointer(object)].erase(field);
  return ReadMachine(json.dump()).status();
}

StatusMatcher Says(const std::string& text) {
  return StatusIs(absl::StatusCode::kInvalidArgument, text);
}

TEST_CASE("a machine file is read") {
  const absl::StatusOr<Machine> machine = ReadMachine(Good().dump());
  REQUIRE_THAT(machine, IsOk());
  CHECK(machine->name == "small");
  CHECK(machine->devices() == 4);
  CHECK(machine->links.size() == 2);
  CHECK(machine->price == 2.5);
  CHECK(machine->device.memory == 1000);
  CHECK(machine->device.reserved == 100);
  CHECK(machine->device.rates.at(ElementType::kBF16) == 4e9);
  CHECK(machine->device.rates.at(ElementType::kI64) == 1e9);     // as of f32
  CHECK(machine->device.kernels[1][2].start == 1e-6);            // as of generated code
  CHECK(machine->links[0].tables[0].seconds[1].second == 2e-5);  // raised: never below the first
  CHECK(machine->hash.size() == 16);
}

TEST_CASE("nodes are joined by as many kinds as they need") {
  const auto groups = [](int nodes) {
    const absl::StatusOr<Machine> machine = ReadMachine(Good().dump(), nodes);
    REQUIRE_THAT(machine, IsOk());
    CHECK(machine->nodes == nodes);
    CHECK(machine->price == 2.5 * nodes);
    std::vector<int> devices;
    for (const LinkModel& link : machine->links) devices.push_back(link.devices);
    return devices;
  };
  CHECK(groups(1) == std::vector<int>{2, 4});
  CHECK(groups(3) == std::vector<int>{2, 4, 12});
  CHECK(groups(4) == std::vector<int>{2, 4, 16});
  CHECK(groups(12) == std::vector<int>{2, 4, 16, 48});
  CHECK(ReadMachine(Good().dump(), 3)->name == "small:3");
}

TEST_CASE("nodes that a file cannot have are refused") {
  CHECK_THAT(ReadMachine(Good().dump(), 16), Says("links join at most 12 nodes, and 16 are asked"));
  CHECK_THAT(ReadMachine(Good().dump(), 6), Says("links[3] joins groups of 4 nodes"));
  Json json = Good();
  json["links"].erase(3);
  json["links"].erase(2);
  CHECK_THAT(ReadMachine(json.dump(), 2), Says("a kind with most_nodes is missing"));
  CHECK_THAT(With("/links/3/most_nodes/value", 4000, 2000), Says("plans are for at most 4096"));
}

TEST_CASE("rates of zero and times below zero are refused") {
  CHECK_THAT(With("/links/1/bandwidth/value", 0),
             Says("links[1].bandwidth.value is 0, expected a number from 1 to 1e+21 (bytes a sec"));
  CHECK_THAT(With("/device/rates/f32/value", 0), Says("device.rates.f32.value is 0, expected"));
  CHECK_THAT(With("/device/rates/bf16/value", -4e9), Says("device.rates.bf16.value is -4"));
  CHECK_THAT(With("/device/bandwidth/value", 0), Says("device.bandwidth.value is 0"));
  CHECK_THAT(With("/device/bandwidth/value", nullptr), Says("device.bandwidth.value is null"));
  CHECK_THAT(With("/device/launch/value", -1), Says("device.launch.value is -1"));
  CHECK_THAT(With("/device/issue/value", "x"), Says("device.issue.value is \"x\""));
  CHECK_THAT(With("/links/0/latency/value", -1), Says("links[0].latency.value is -1"));
  CHECK_THAT(With("/price/value", -1), Says("price.value is -1"));
  CHECK_THAT(With("/device/kernels/generated/map/rate_share", 0), Says("map.rate_share is 0"));
  CHECK_THAT(With("/device/kernels/library/product/bandwidth_share", 0),
             Says("device.kernels.library.product.bandwidth_share is 0"));
  CHECK_THAT(With("/device/kernels/generated/product/half_rate", -1), Says("half_rate is -1"));
  CHECK_THAT(With("/device/kernels/generated/map/power", -1), Says("map.power is -1"));
  CHECK_THAT(With("/device/kernels/generated/map/powers", 1), Says("powers"));
  std::string text = Good().dump();
  text.replace(text.find("1000000000.0"), 12, "1e999");
  CHECK_THAT(ReadMachine(text), Says("this is no JSON"));
}

TEST_CASE("a device that has no memory left is refused") {
  CHECK_THAT(With("/device/memory/value", 0),
             Says("device.memory.value is 0, expected an integer"));
  CHECK_THAT(With("/device/reserved/value", 1000), Says("an integer from 0 to 999"));
}

TEST_CASE("what is missing and what is unknown is named") {
  CHECK_THAT(Without("/links/0", "latency"), Says("there is no links[0].latency"));
  CHECK_THAT(Without("/links/0/latency", "source"), Says("there is no links[0].latency.source"));
  CHECK_THAT(With("/links/0/latency/source", ""), Says("expected where the number is from"));
  CHECK_THAT(Without("/device", "rates"), Says("there is no device.rates"));
  CHECK_THAT(Without("/device/rates", "f32"), Says("there is no device.rates.f32"));
  CHECK_THAT(Without("/device/kernels/generated", "map"), Says("there is no device.kernels.gener"));
  CHECK_THAT(Without("/device/kernels/generated/map", "source"), Says("generated.map.source"));
  CHECK_THAT(Without("", "device"), Says("there is no device"));
  CHECK_THAT(With("/device/rates/f31", Constant(1)), Says("device.rates.f31 is the rate of no"));
  CHECK_THAT(With("/device/speed", 1), Says("device.speed is an unknown field; device has name"));
  CHECK_THAT(With("/speed", 1), Says("speed is an unknown field; the file has format"));
  CHECK_THAT(With("/links/0/latency/unit", "s"), Says("links[0].latency.unit is an unknown field"));
  CHECK_THAT(With("/device/kernels/library/sort", 1), Says("library.sort is an unknown field"));
  CHECK_THAT(With("/format", "yuba-plan/2"), Says("expected \"yuba-machine/1\""));
  CHECK_THAT(With("/name", "a:b"), Says("name is \"a:b\", expected a name without : and @"));
  CHECK_THAT(ReadMachine("[]"), Says("expected an object"));
  CHECK_THAT(ReadMachine("{"), Says("this is no JSON"));
}

TEST_CASE("links whose groups do not nest are refused") {
  CHECK_THAT(With("/links", Json::array()), Says("expected at least one kind of links"));
  CHECK_THAT(With("/links/1/devices/value", 3),
             Says("links[1].devices.value is 3, expected a mul"));
  CHECK_THAT(With("/links/1/devices/value", 2), Says("from 4 on, of the 2 devices of a group"));
  CHECK_THAT(With("/links/0/devices/value", 0), Says("links[0].devices.value is 0"));
  CHECK_THAT(With("/links/3/most_nodes/value", 4), Says("links[3].most_nodes.value is 4"));
  CHECK_THAT(With("/links/2/devices", Constant(8)), Says("has devices and most_nodes"));
  Json json = Good();
  std::swap(json["links"][1], json["links"][2]);
  CHECK_THAT(ReadMachine(json.dump()), Says("before those with most_nodes"));
  json = Good();
  json["links"].erase(0);
  json["links"].erase(0);
  CHECK_THAT(ReadMachine(json.dump()), Says("links[0] joins nodes, so one that joins a node's"));
}

TEST_CASE("tables that are none are refused") {
  const std::string table = "/links/0/tables/0/";
  CHECK_THAT(With(table + "collective", "all_sum"),
             Says("is \"all_sum\", expected all_gather, permute, all_to_all"));
  CHECK_THAT(With(table + "collective", "plain"), Says("expected all_gather"));
  CHECK_THAT(With(table + "devices", 1), Says("links[0].tables[0].devices is 1"));
  CHECK_THAT(With(table + "one_process", 1), Says("one_process is 1, expected true or false"));
  CHECK_THAT(With(table + "seconds", Json::array()), Says("expected at least one row"));
  CHECK_THAT(With(table + "seconds/1", {1000}), Says("expected [bytes, seconds]"));
  CHECK_THAT(With(table + "seconds/1", {1000, 1}),
             Says("links[0].tables[0].seconds[1][0] is 1000, expected more bytes"));
  CHECK_THAT(With(table + "seconds/1", {2000, -1}), Says("seconds[1][1] is -1"));
  CHECK_THAT(With("/links/0/tables/1", Good()["links"][0]["tables"][0]), Says("a second table"));
}

TEST_CASE("every machine that is built in is read, alone and with nodes") {
  const std::vector<std::string> names = MachineNames();
  REQUIRE(std::count(names.begin(), names.end(), "hgx-h100") == 1);
  for (const std::string& name : names) {
    INFO(name);
    const absl::StatusOr<Machine> machine = FindMachine(name);
    REQUIRE_THAT(machine, IsOk());
    CHECK(machine->name == name);  // as its file is called
  }
  const absl::StatusOr<Machine> nodes = FindMachine("hgx-h100:512");
  REQUIRE_THAT(nodes, IsOk());
  CHECK(nodes->devices() == 4096);
  CHECK(nodes->hash != FindMachine("hgx-h100:511")->hash);
}

TEST_CASE("machines by name or by file") {
  CHECK_THAT(FindMachine("hgx"), Says("there is no machine hgx: it is one of "));
  CHECK_THAT(FindMachine("hgx-h100:0"), Says("has \"0\" nodes, expected a number of at least 1"));
  CHECK_THAT(FindMachine("hgx-h100:"), Says("has \"\" nodes"));
  CHECK_THAT(FindMachine("hgx-h100:513"), Says("the machine hgx-h100: links join at most 512"));
  CHECK_THAT(FindMachine("/no/such.json"), Says("/no/such.json"));
  const std::string path = std::string(getenv("TEST_TMPDIR")) + "/small.json";
  REQUIRE_THAT(WriteFile(path, Good().dump()), IsOk());
  CHECK(FindMachine(path)->devices() == 4);
  CHECK(FindMachine(path + ":3")->devices() == 12);
}

TEST_CASE("a set of kernels takes the place of the machine's own") {
  Json json = Good();
  Json kernel = json["device"]["kernels"]["generated"]["map"];
  kernel["rate_share"] = 0.75;
  const Json set = {{"product", kernel},
                    {"convolution", kernel},
                    {"map", kernel},
                    {"reduction", kernel},
                    {"fused_products", Constant(true)}};
  json["device"]["kernel_sets"] = {{"fast", set}};
  json["device"]["kernels_version"] = "1";
  const absl::StatusOr<Machine> own = ReadMachine(json.dump(), 2),
                                fast = ReadMachine(json.dump(), 2, "fast");
  REQUIRE_THAT(own, IsOk());
  REQUIRE_THAT(fast, IsOk());
  CHECK(own->name == "small:2");
  CHECK(fast->name == "small@fast:2");
  CHECK(KernelSetOf(fast->name) == "fast");
  CHECK(KernelSetOf(own->name).empty());
  for (const bool library : {false, true}) {
    for (int c = 0; c < kKernelClasses; ++c) {
      CHECK(own->device.kernels[library][c].rate_share == 0.5);
      CHECK(fast->device.kernels[library][c].rate_share == 0.75);
    }
  }
  CHECK_FALSE(own->device.fused_products);
  CHECK(fast->device.fused_products);
  CHECK(own->device.kernels_version == "1");
  CHECK(fast->device.kernels_version.empty());
  CHECK(own->hash != fast->hash);
  CHECK(own->hash == ReadMachine(Good().dump(), 2)->hash);
  CHECK_THAT(ReadMachine(json.dump(), 1, "slow"), Says("no set of kernels \"slow\": it has fast"));
  CHECK_THAT(ReadMachine(Good().dump(), 1, "fast"), Says("it has none, leave @"));
  json["device"]["kernel_sets"]["fast"].erase("map");
  CHECK_THAT(ReadMachine(json.dump()), Says("there is no device.kernel_sets.fast.map"));
  json["device"]["kernel_sets"]["fast"] = set;
  json["device"]["kernel_sets"]["fast"]["sort"] = kernel;
  CHECK_THAT(ReadMachine(json.dump()), Says("device.kernel_sets.fast.sort is an unknown field"));
  const absl::StatusOr<Machine> found = FindMachine("hgx-h100@libraries:2");
  REQUIRE_THAT(found, IsOk());
  CHECK(found->name == "hgx-h100@libraries:2");
  CHECK_THAT(FindMachine("hgx-h100@"), Says("has no name of a set of kernels behind the @"));
  const std::string path = std::string(getenv("TEST_TMPDIR")) + "/a@b.json";
  REQUIRE_THAT(WriteFile(path, Good().dump()), IsOk());
  CHECK(FindMachine(path)->name == "small");
}

TEST_CASE("a GPU is known by its driver's name and about its memory") {
  const Machine machine = FindMachine("hgx-h100").value();
  const int64_t memory = machine.device.memory;
  CHECK(MachineOfGpu(machine.device.name, memory) == "hgx-h100");
  CHECK(MachineOfGpu(machine.device.name, memory - memory / 30) == "hgx-h100");
  CHECK(MachineOfGpu(machine.device.name, memory / 2) == "");
  CHECK(MachineOfGpu("NVIDIA T4", memory) == "");
}

}  // namespace
}  // namespace yuba
