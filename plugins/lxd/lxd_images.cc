#include "images.h"
#include "lxd_set.h"
#include "with_context.h"

namespace hostler::lxd {

using driver::str;

/// All images of the project: whoever may write there has put them there.
void LxdSet::find_images(const hostler_images_req& request, hostler_op* op) {
  with_context("list images of project " + config_.project, [&] {
    const Answer answer = api_.get("/1.0/images?recursion=1", op);
    if (!answer.metadata().IsArray()) throw_not_lxd("the images are no list");
    if (answer.metadata().Empty()) api_.get(project_path(), op);
    std::vector<Image> all;
    for (const Value& one : answer.metadata().GetArray()) all.push_back(read_image(one));
    for (const Image& one : select(all, request)) {
      const std::string name = name_by(text(request.name), one);
      auto out = driver::image_record();
      out.id = str(one.fingerprint);
      out.name = str(name);
      out.owner = str(one.owner);
      out.architecture = str(one.architecture);
      out.created_unix_ns = one.created_unix_ns;
      driver::emit(op, out);
    }
  });
}

}  // namespace hostler::lxd
