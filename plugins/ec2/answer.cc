#include "answer.h"

#include "errors.h"

namespace hostler::ec2 {
namespace {

using http::NoAnswer;

/// <Response><Errors><Error>, or <ErrorResponse><Error>.
Node find_error(const Node& root) {
  if (const Node error = root.child("Errors").child("Error")) return error;
  return root.child("Error");
}

std::string request_id_of(const Node& root) {
  for (const char* name : {"RequestID", "RequestId", "requestId"})
    if (const Node id = root.child(name)) return id.child_value();
  return {};
}

}  // namespace

void throw_not_amazon(const std::string& what) {
  throw NoAnswer(HOSTLER_E_TRANSIENT, "the answer is not one of Amazon's: " + what, false);
}

Answer Answer::read(const http::Answer& http, const std::string& action, std::string_view version) {
  Answer out;
  out.document_ = std::make_unique<pugi::xml_document>();
  const std::string status = "status " + std::to_string(http.status);
  const pugi::xml_parse_result parsed =
      out.document_->load_buffer(http.body.data(), http.body.size(),
                                 pugi::parse_minimal | pugi::parse_escapes, pugi::encoding_utf8);
  const Node root = out.root();
  if (const Node error = find_error(root); parsed && error) {
    throw Refused(static_cast<int>(http.status), text_of(error, "Code"), text_of(error, "Message"),
                  request_id_of(root));
  }
  if (!parsed && http.status >= 200 && http.status <= 299)
    throw_not_amazon(status + ", " + std::to_string(http.body.size()) + " bytes, no XML at byte " +
                     std::to_string(parsed.offset) + " (" + parsed.description() + ")");
  if (http.status < 200 || http.status > 299)
    throw Refused(static_cast<int>(http.status), "", status + " without an error of Amazon's", "");
  if (root.name() != action + "Response")
    throw_not_amazon(std::string("<") + root.name() + "> instead of <" + action + "Response>");
  const std::string_view space = root.attribute("xmlns").value();
  if (space.find(version) == std::string_view::npos)
    throw_not_amazon("its version is \"" + std::string(space) + "\", not " + std::string(version));
  return out;
}

Node Answer::need(const char* name) const {
  const Node found = root().child(name);
  if (!found) throw_not_amazon(std::string("<") + root().name() + "> without <" + name + ">");
  return found;
}

std::string text_of(const Node& node, const char* name) { return node.child(name).child_value(); }

std::string text_at(const Node& node, const char* path) {
  return node.first_element_by_path(path).child_value();
}

}  // namespace hostler::ec2
