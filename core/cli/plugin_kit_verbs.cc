// plugins new, plugins schema: for authors of plugins.
#include <memory>

#include "core/cli/session.h"
#include "core/cli/verbs.h"
#include "core/kit/new_project.h"
#include "plumb/sdk/blocks.h"
#include "plumb/sdk/kernels/op_schema.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

kit::KitPlaces places() {
  return {.kit = shipped_data() + "/kit",
          .rust_sdk = shipped_data() + "/rust/plumb",
          .python_sdk = shipped_data() + "/python",
          .version = PLUMB_VERSION};
}

int make_project(kit::ProjectRequest request) {
  if (request.folder.empty()) request.folder = request.id;
  for (const std::string& file : value_or_stop(kit::new_project(places(), request), kUsage))
    print(request.folder + "/" + file + "\n");
  note("next: " + request.folder + "/check.sh builds and tests it; README.md says more");
  return kDone;
}

OrderedJson to_json(const OpSchema& op) {
  OrderedJson fields = OrderedJson::array();
  for (const OpField& field : op.fields) {
    OrderedJson row{{"name", field.name}, {"role", field.role}, {"type", field.type}};
    if (!field.shape.empty()) row["shape"] = field.shape;
    if (field.is_optional) row["optional"] = true;
    row["offset"] = offsetof(plumb_op, as) + field.offset;
    row["bytes"] = field.bytes;
    fields.push_back(std::move(row));
  }
  OrderedJson variants = OrderedJson::object();
  for (const OpVariant& variant : op.variants) variants[std::string(variant.name)] = variant.value;
  OrderedJson json{{"name", op.name},       {"kind", op.kind}, {"record", op.record},
                   {"meaning", op.meaning}, {"rule", op.rule}, {"fields", std::move(fields)}};
  if (!variants.empty()) json["variants"] = std::move(variants);
  return json;
}

OrderedJson schema_json() {
  OrderedJson formats = OrderedJson::array(), ops = OrderedJson::array();
  for (const FormatInfo& format : kFormats) {
    formats.push_back({{"name", format.name},
                       {"id", format.format},
                       {"block_values", format.block_values},
                       {"block_bytes", format.block_bytes},
                       {"quantised", format.is_quantised}});
  }
  for (const OpSchema& op : kOpSchemas) ops.push_back(to_json(op));
  return {{"extension", PLUMB_EXT_KERNELS},
          {"numerics", "canonical-1"},
          {"record_bytes", sizeof(plumb_op)},
          {"formats", std::move(formats)},
          {"ops", std::move(ops)}};
}

/// One line for each op, and one for each of its fields.
std::string schema_text() {
  std::string text;
  for (const OpSchema& op : kOpSchemas) {
    text += padded(op.name, 12) + std::string(op.meaning) + "\n";
    for (const OpField& field : op.fields) {
      text += "  " + padded(std::string(field.name), 12) + padded(std::string(field.role), 10) +
              padded(std::string(field.type), 10) + std::string(field.shape) +
              (field.is_optional ? "  optional" : "") + "\n";
    }
    for (const OpVariant& variant : op.variants)
      text += "  " + padded("variant", 12) + padded(std::to_string(variant.value), 10) +
              std::string(variant.name) + "\n";
    text += "  " + padded("rule", 12) + std::string(op.rule) + "\n";
  }
  return text;
}

void add_new(CLI::App& plugins, int& exit) {
  auto request = std::make_shared<kit::ProjectRequest>();
  CLI::App* verb =
      plugins.add_subcommand("new", "Writes a whole project that builds a plugin and tests it");
  verb->add_option("--kind", request->kind, "What the plugin is: see below")->required();
  verb->add_option("--language", request->language, "c, c++, rust or python")->required();
  verb->add_option("--name", request->id, "The plugin's id: whose it is, a dot, and what")
      ->required();
  verb->add_option("--license", request->license, "SPDX identifier of the license you choose")
      ->capture_default_str();
  verb->add_option("--into", request->folder, "Where to, a folder that is not there; else ./NAME");
  verb->callback([request, &exit] { exit = make_project(*request); });
  verb->footer([] {
    std::string text = "There are templates for";
    for (const kit::Offer& offer : kit::offers(places()))
      text += "\n  --kind " + padded(std::string(offer.kind), 10) + "--language " +
              std::string(offer.language);
    return text +
           "\nExamples:\n"
           "  plumb plugins new --kind kernels --language c++ --name acme.fast\n"
           "  plumb plugins new --kind sampler --language c --name acme.near --license MIT --into "
           "near";
  });
}

void add_schema(CLI::App& plugins, int& exit) {
  auto is_json = std::make_shared<bool>(false);
  CLI::App* verb = plugins.add_subcommand(
      "schema", "The ops of plumb.kernels/1: names, shapes, formats and rules, as data");
  verb->add_flag("--json", *is_json, "As JSON, with places in the record");
  verb->callback([is_json, &exit] {
    if (*is_json) {
      print_json(schema_json());
    } else {
      print(schema_text());
    }
    exit = kDone;
  });
  verb->footer("Example:\n  plumb plugins schema --json > ops.json");
}

}  // namespace

void add_plugin_kit(CLI::App& plugins, int& exit) {
  add_new(plugins, exit);
  add_schema(plugins, exit);
}

}  // namespace plumbline::cli
