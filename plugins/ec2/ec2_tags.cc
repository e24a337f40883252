#include "ec2_set.h"

namespace hostler::ec2 {

void Ec2Set::set_tags(const hostler_set_tags_req& request, hostler_op* op) {
  const std::string id = text(request.id);
  const Tags wanted = read_tags(request.set, request.n_set);
  with_context("change tags of " + id, [&] {
    find_ours(request.id, {}, op);
    int n = 0;
    Query create("CreateTags");
    create.add("ResourceId.1", id);
    for (const auto& [key, value] : wanted) {
      const std::string tag = "Tag." + std::to_string(++n);
      create.add_always(tag + ".Key", key).add_always(tag + ".Value", value);
    }
    if (n != 0) ec2_.change(create, op);
  });
}

}  // namespace hostler::ec2
