// What crosses between the processes is held by a file, tests/abi/baseline/wire_N.txt: a change of
// the wire without a new kWireVersion fails here.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <string>

#include "core/base/files.h"
#include "core/driver_host/wire/child_arguments.h"
#include "core/driver_host/wire/decoder.h"
#include "core/driver_host/wire/encoder.h"
#include "core/driver_host/wire/messages.h"

namespace hostler::driver_host {
namespace {

template <class T>
constexpr const char* kNameOf = nullptr;
#define HOSTLER_NAME(T) \
  template <>           \
  constexpr const char* kNameOf<T> = #T
HOSTLER_NAME(hostler_instance);
HOSTLER_NAME(hostler_set_info);
HOSTLER_NAME(hostler_price);
HOSTLER_NAME(hostler_quota_group);
HOSTLER_NAME(hostler_offering);
HOSTLER_NAME(hostler_interruption);
HOSTLER_NAME(hostler_console);
HOSTLER_NAME(hostler_leftover);
HOSTLER_NAME(hostler_image);
HOSTLER_NAME(hostler_instance_type);
HOSTLER_NAME(hostler_set_config);
HOSTLER_NAME(hostler_set_info_req);
HOSTLER_NAME(hostler_user_data);
HOSTLER_NAME(hostler_disk);
HOSTLER_NAME(hostler_create_req);
HOSTLER_NAME(hostler_list_req);
HOSTLER_NAME(hostler_destroy_req);
HOSTLER_NAME(hostler_set_tags_req);
HOSTLER_NAME(hostler_verify_req);
HOSTLER_NAME(hostler_price_req);
HOSTLER_NAME(hostler_quota_group_req);
HOSTLER_NAME(hostler_power_req);
HOSTLER_NAME(hostler_offerings_req);
HOSTLER_NAME(hostler_interruption_req);
HOSTLER_NAME(hostler_console_req);
HOSTLER_NAME(hostler_leftover_list_req);
HOSTLER_NAME(hostler_leftover_destroy_req);
HOSTLER_NAME(hostler_images_req);
HOSTLER_NAME(hostler_str);
HOSTLER_NAME(hostler_kv);
HOSTLER_NAME(hostler_address);
HOSTLER_NAME(hostler_gpu_group);
#undef HOSTLER_NAME

/// Writes for each field where it is in the struct and as what it travels, in the wire's order.
class Describe {
 public:
  Describe(std::ostream& out, const void* base) : out_(out), base_(base) {}

  template <class T>
  requires std::is_integral_v<T>
  void operator()(const T& field) { number(field); }
  void operator()(const hostler_str& field) { at(field) << "text"; }
  template <class T>
  void reserved(const T& field) {
    number(field);
    out_ << "(zero)";
  }
  template <class T>
  void array(const T* const& items, const std::size_t& count) {
    at(items) << "array of " << kNameOf<T>;
    at(count) << "count";
  }
  void bytes(const std::uint8_t* const& data, const std::size_t& count) {
    at(data) << "bytes";
    at(count) << "count";
  }
  template <class T>
  void one(const T* const& item) {
    at(item) << "one " << kNameOf<T>;
  }
  template <class T>
  void each(const T* const* const& items, const std::size_t& count) {
    at(items) << "each " << kNameOf<T>;
    at(count) << "count";
  }

 private:
  template <class T>
  void number(const T& field) {
    at(field) << (std::is_signed_v<T> ? "i" : "u") << 8 * sizeof(T);
  }
  std::ostream& at(const auto& field) {
    return out_ << "\n  " << reinterpret_cast<const char*>(&field) - static_cast<const char*>(base_)
                << " ";
  }

  std::ostream& out_;
  const void* const base_;
};

template <class... T>
void describe_structs(std::ostream& out) {
  const auto one = [&]<class U>(U value) {
    Describe fields(out << kNameOf<U> << ": size u32", &value);
    visit(value, fields);
    out << "\n";
  };
  (one(T{}), ...);
}

std::string hex(std::string_view bytes) {
  std::ostringstream out;
  out << std::hex << std::setfill('0');
  for (const unsigned char c : bytes) out << std::setw(2) << unsigned{c};
  return out.str();
}

/// Null for a number that is no type. The compiler warns when a type is missing here.
const char* name_of(FrameType type) {
  switch (type) {
#define HOSTLER_CASE(name) \
  case FrameType::name:    \
    return #name
    HOSTLER_CASE(kOpen);
    HOSTLER_CASE(kInfo);
    HOSTLER_CASE(kCreate);
    HOSTLER_CASE(kList);
    HOSTLER_CASE(kDestroy);
    HOSTLER_CASE(kSetTags);
    HOSTLER_CASE(kVerify);
    HOSTLER_CASE(kPriceHistory);
    HOSTLER_CASE(kQuotaGroup);
    HOSTLER_CASE(kStart);
    HOSTLER_CASE(kStop);
    HOSTLER_CASE(kOfferings);
    HOSTLER_CASE(kWatch);
    HOSTLER_CASE(kReadConsole);
    HOSTLER_CASE(kListLeftovers);
    HOSTLER_CASE(kDestroyLeftover);
    HOSTLER_CASE(kFindImages);
    HOSTLER_CASE(kCancel);
    HOSTLER_CASE(kPing);
    HOSTLER_CASE(kClose);
    HOSTLER_CASE(kHello);
    HOSTLER_CASE(kFailed);
    HOSTLER_CASE(kRecord);
    HOSTLER_CASE(kReturned);
    HOSTLER_CASE(kEnd);
    HOSTLER_CASE(kBrokenRule);
    HOSTLER_CASE(kLog);
    HOSTLER_CASE(kPong);
    HOSTLER_CASE(kCrashed);
    HOSTLER_CASE(kOutdated);
#undef HOSTLER_CASE
  }
  return nullptr;
}

template <class T>
std::string encoded(const T& value) {
  std::string bytes;
  Encoder(bytes).growable(value);
  return hex(bytes);
}

/// How numbers, texts, arrays and structs look as bytes.
void describe_bytes(std::ostream& out) {
  std::string texts;
  Encoder encoder(texts, 3);
  encoder.number(std::uint16_t{0x0102});
  encoder.text("abc");
  encoder.text(nullptr, 5);
  encoder.text("too long");
  out << "u16 0x0102, text abc, text without address, text too long: " << hex(texts) << "\n";
  const hostler_kv tag{HOSTLER_STR("k"), HOSTLER_STR("v")};
  const hostler_address address{2, 0, HOSTLER_STR("a")};
  hostler_instance instance{};
  instance.tags = &tag;
  instance.n_tags = 1;
  instance.addresses = &address;
  instance.n_addresses = 1;
  out << "hostler_instance with one tag and one address: " << encoded(instance) << "\n";
  const hostler_gpu_group gpus{HOSTLER_STR("k"), 3, 2, 0};
  hostler_offering offering{};
  offering.gpu_groups = &gpus;
  offering.n_gpu_groups = 1;
  out << "hostler_offering with one group of gpus: " << encoded(offering) << "\n";
  hostler_disk disk{};
  disk.struct_size = sizeof disk;
  const hostler_disk* const disks[]{&disk};
  hostler_create_req create{};
  create.disks = disks;
  create.n_disks = 1;
  out << "hostler_create_req with one disk and no type: " << encoded(create) << "\n";
}

void describe_messages(std::ostream& out) {
  const Hello hello{.wire_version = 1,
                    .host_version = "2",
                    .name = "3",
                    .version = "4",
                    .vendor = "5",
                    .license = "6",
                    .runtime = "7",
                    .config_schema_json = "8",
                    .threading = 9,
                    .max_concurrency = 10,
                    .min_host_minor = 11,
                    .abi_minor = 12,
                    .extensions = {"13", "14"},
                    .in_force = {"15", "16", "17"}};
  const End end{.status = 1,
                .scope = 2,
                .flags = 3,
                .retry_after_ms = 4,
                .quota_limit = 5,
                .quota_used = 6,
                .texts = {"8", "9"},
                .broken_rule = "10"};
  const LogLine line{.level = 1, .text = "2"};
  out << "Hello: " << hex(to_body(hello)) << "\nEnd: " << hex(to_body(end))
      << "\nLogLine: " << hex(to_body(line));
  const Crash crash{.signal = 1, .exit_status = 2};
  out << "\nCrash: " << hex({reinterpret_cast<const char*>(&crash), sizeof crash});
  out << "\nframe: " << hex(make_message(FrameType::kEnd, 0x0102, "body")) << "\n";
  const ChildArguments arguments{
      .library = "library",
      .parent = 1,
      .sandbox = {.level = model::Sandbox::kFiles, .readable = {"readable"}},
      .cgroups = {"cgroup"}};
  for (const auto& argument : to_argv("program", arguments)) out << argument << " ";
  out << "\n";
}

std::string describe_wire() {
  std::ostringstream out;
  out << "Made by tests/unit/driver_host/wire_baseline_test.cc.\n\n";
  for (int number = 0; number < 0x10000; ++number)
    if (const char* name = name_of(static_cast<FrameType>(number)))
      out << name << " = " << number << "\n";
  out << "kMore = " << kMore << ", kInFile = " << kInFile << ", kNoText = " << kNoText
      << ", kTooLong = " << kTooLong << "\n";
  out << "descriptors: calls " << kCallsFd << ", control " << kControlFd << ", library "
      << kLibraryFd << "; a message has up to " << kDatagramMax << " bytes, an array " << kItemsMax
      << " items\n\n";
  describe_messages(out);
  describe_bytes(out);
  out << "\n";
  describe_structs<hostler_instance, hostler_set_info, hostler_price, hostler_quota_group,
                   hostler_offering, hostler_interruption, hostler_console, hostler_leftover,
                   hostler_image, hostler_instance_type, hostler_set_config, hostler_set_info_req,
                   hostler_user_data, hostler_disk, hostler_create_req, hostler_list_req,
                   hostler_destroy_req, hostler_set_tags_req, hostler_verify_req, hostler_price_req,
                   hostler_quota_group_req, hostler_power_req, hostler_offerings_req,
                   hostler_interruption_req, hostler_console_req, hostler_leftover_list_req,
                   hostler_leftover_destroy_req, hostler_images_req>(out);
  return out.str();
}

// HOSTLER_WRITE_BASELINE=1 writes the file.
TEST(WireBaselineTest, TheWireIsThatOfItsVersion) {
  const std::string file = HOSTLER_WIRE_BASELINES "/wire_" + std::to_string(kWireVersion) + ".txt";
  const std::string wire = describe_wire();
  if (std::getenv("HOSTLER_WRITE_BASELINE") != nullptr) {
    ASSERT_TRUE(write_file(file, wire, 0644));
  }
  const auto kept = read_file(file, 1U << 20U);

  EXPECT_EQ(kept ? *kept : kept.error().message, wire)
      << "The wire has changed. Raise kWireVersion in core/driver_host/wire/limits.h, unless all "
         "that has changed are fields at the ends of structs. Then run this test with "
         "HOSTLER_WRITE_BASELINE=1 and commit "
      << file << " in place of the last version's.";
}

}  // namespace
}  // namespace hostler::driver_host
