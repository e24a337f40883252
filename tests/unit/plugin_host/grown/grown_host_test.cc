// A host of ABI 1.1, made up, and drivers of 1.0: structs that are shorter than the host's, and a
// request with something that these drivers do not know. The other tests of this program are those
// of the host of 1.0.
#include "core/plugin_host/abi_values.h"
#include "core/plugin_host/host_table.h"
#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

static_assert(HOSTLER_ABI_MINOR == 1, "this program is built against the made-up header");

/// A driver's struct as it was in 1.0, with a neighbour that is not to be read.
template <class T>
struct First {
  First() {
    std::memset(&whole, 0xa5, sizeof whole);
    whole.struct_size = kFirstSize<T>;
  }
  T whole;
};

template <class T>
void is_read_as_zero_where_it_is_older() {
  First<T> older;
  T read;
  ASSERT_EQ(copy_growable(&older.whole, read), "");
  EXPECT_EQ(read.grown, decltype(read.grown){}) << "bytes after the driver's struct are not read";
  EXPECT_EQ(read.struct_size, sizeof(T));
  EXPECT_FALSE(HOSTLER_HAS(&older.whole, T, grown));

  older.whole.struct_size = sizeof(T);
  ASSERT_EQ(copy_growable(&older.whole, read), "");
  EXPECT_NE(read.grown, decltype(read.grown){});
  EXPECT_TRUE(HOSTLER_HAS(&older.whole, T, grown));

  older.whole.struct_size = kFirstSize<T> - 1;
  EXPECT_THAT(copy_growable(&older.whole, read), testing::HasSubstr("R15"));
}

TEST(GrownHostTest, FieldsThatADriverOf10LacksAreZero) {
  is_read_as_zero_where_it_is_older<hostler_instance>();
  is_read_as_zero_where_it_is_older<hostler_set_info>();
  is_read_as_zero_where_it_is_older<hostler_price>();
  is_read_as_zero_where_it_is_older<hostler_quota_group>();
  is_read_as_zero_where_it_is_older<hostler_offering>();
  is_read_as_zero_where_it_is_older<hostler_interruption>();
  is_read_as_zero_where_it_is_older<hostler_console>();
  is_read_as_zero_where_it_is_older<hostler_leftover>();
  is_read_as_zero_where_it_is_older<hostler_image>();
  is_read_as_zero_where_it_is_older<hostler_log_line>();
  is_read_as_zero_where_it_is_older<hostler_driver>();
  is_read_as_zero_where_it_is_older<hostler_ext_power>();
}

TEST(GrownHostTest, ADriverOf10RefusesWhatCameWith11) {
  ChaosSet set("");
  const auto& table = load_fake("fake_chaos")->table();
  EXPECT_EQ(table.abi_minor, 0U);
  EXPECT_EQ(table.grown, nullptr) << "a function that it lacks";

  hostler_error error{};
  error.struct_size = sizeof error;
  error.set_text = [](hostler_error*, std::uint32_t, const char*, std::size_t) {};
  hostler_op op{};
  op.struct_size = sizeof op;
  op.error = &error;
  hostler_set_config config{};
  config.struct_size = sizeof config;
  hostler_set* opened = nullptr;
  ASSERT_EQ(table.set_open(&host_table(), &config, &op, &opened), HOSTLER_OK);
  hostler_instance_type type{};
  type.struct_size = sizeof type;
  hostler_create_req request{};
  request.struct_size = sizeof request;
  request.type = &type;
  request.flags = HOSTLER_CREATE_DRY_RUN;
  EXPECT_EQ(table.create(opened, &request, &op), HOSTLER_E_UNSUPPORTED) << "it makes nothing";
  table.set_close(opened);
}

}  // namespace
}  // namespace hostler::plugin_host
