#include "ec2_set.h"
#include "http/text.h"
#include "offerings.h"

namespace hostler::ec2 {

using driver::str;
using driver::view;

namespace {

Query images_query(const hostler_images_req& request) {
  Query query("DescribeImages");
  // Anybody may give an image any name: without an owner only these are trusted.
  if (request.owner.len != 0)
    query.add("Owner.1", text(request.owner));
  else
    query.add_list("Owner", {"self", "amazon"});
  query.add_filter("state", {"available"});
  if (request.name.len != 0) query.add_pattern("name", {text(request.name)});
  if (request.architecture.len != 0) {
    const bool is_arm = view(request.architecture) == "aarch64";
    query.add_filter("architecture", {is_arm ? "arm64" : text(request.architecture)});
  }
  for (std::size_t i = 0; i < request.n_filters; ++i)
    query.add_filter(view(request.filters[i].key), {text(request.filters[i].value)});
  return query;
}

}  // namespace

void Ec2Set::find_images(const hostler_images_req& request, hostler_op* op) {
  struct Image {
    std::string id, name, owner, architecture;
    std::int64_t created = 0;
  };
  with_context("find images", [&] {
    std::vector<Image> found;
    ec2_.each(
        images_query(request), 1000, "imagesSet",
        [&](const Node& item) {
          Image one{text_of(item, "imageId"), text_of(item, "name"), text_of(item, "imageOwnerId"),
                    architecture_of(text_of(item, "architecture")),
                    http::read_time_ns(text_of(item, "creationDate"))};
          if (one.id.empty()) throw_not_amazon("an image without an id");
          if (!one.architecture.empty()) found.push_back(std::move(one));
        },
        op);
    for (const Image& one : found) {
      auto out = driver::image_record();
      out.id = str(one.id);
      out.name = str(one.name);
      out.owner = str(one.owner);
      out.architecture = str(one.architecture);
      out.created_unix_ns = one.created;
      driver::emit(op, out);
    }
  });
}

}  // namespace hostler::ec2
