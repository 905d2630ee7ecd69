#include "core/kit/new_project.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/os/fresh_folder.h"
#include "core/kit/template_files.h"

namespace plumbline::kit {
namespace {

namespace fs = std::filesystem;

struct Kind {
  std::string_view name;
  std::string_view extension;
  std::string_view description;  // what the template's plugin does
};
constexpr Kind kKinds[] = {
    {"kernels", "plumb.kernels/1", "Matrix products of Q8_0 weights, in class canonical-1"},
    {"sampler", "plumb.sampler/1", "A sampler stage that keeps the logits near the largest one"},
    {"tokenizer", "plumb.tokenizer/1", "A tokenizer that knows each byte as one token"},
    {"template", "plumb.template/1", "A template engine that lets no control character through"},
    {"parser", "plumb.output_parser/1",
     "A parser that takes what comes before Answer: as reasoning"},
    {"loader", "plumb.loader/1", "A loader of files that name a model file"},
    {"source", "plumb.model_source/1", "A catalogue of one model"},
    {"runner", "plumb.runner/1", "A runner: a foreign engine as one side of a comparison"},
};

struct Language {
  std::string_view name;
  std::array<std::string_view, 2> layers;  // templates that it shares with others; empty: none
  std::string_view matmul;  // the file with a kernels project's inner loop
  std::string_view license_place;
  std::string_view ci_packages;
};
constexpr Language kLanguages[] = {
    {"c", {"library", "cmake"}, "src/matmul.c", "CMakeLists.txt", "cmake make gcc libc6-dev"},
    {"c++", {"library", "cmake"}, "src/matmul.cc", "CMakeLists.txt", "cmake make g++"},
    {"rust", {"library"}, "src/matmul.rs", "Cargo.toml", "cargo-web rustc-web"},
    {"python", {}, "", "runner.py", "python3"},
};

constexpr size_t kIdBytesMax = 64;

/// As a host takes it, with a dot in it: whose it is, and what.
bool is_good_id(std::string_view id) {
  if (id.size() > kIdBytesMax || id.find('.') == id.npos || id.find("..") != id.npos) return false;
  if (id.front() == '.' || id.back() == '.') return false;
  bool begins_part = true;
  for (const char c : id) {
    const bool is_letter = c >= 'a' && c <= 'z';
    if (begins_part && !is_letter) return false;
    if (!is_letter && !(c >= '0' && c <= '9') && c != '_' && c != '.') return false;
    begins_part = c == '.';
  }
  return true;
}

/// Its text goes into files of several languages, between quotation marks.
bool is_good_license(std::string_view license) {
  return !license.empty() && license.size() <= 100 && std::ranges::all_of(license, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-.+() ").find(c) != std::string_view::npos;
  });
}

std::string replaced(std::string_view id, char dot) {
  std::string text(id);
  std::ranges::replace(text, '.', dot);
  if (dot == '-') std::ranges::replace(text, '_', dot);
  return text;
}

std::string template_folder(const KitPlaces& places, std::string_view name) {
  return (fs::path(places.kit) / "templates" / name).string();
}

std::string pair_folder(const KitPlaces& places, const Kind& kind, const Language& language) {
  return template_folder(places, std::string(kind.name) + "-" + std::string(language.name));
}

template <typename Named, size_t n>
const Named* find_named(const Named (&all)[n], std::string_view name) {
  const auto* const found = std::ranges::find(all, name, &Named::name);
  return found == std::end(all) ? nullptr : found;
}

Result<void> write_files(const std::string& folder, const std::vector<FilledFile>& files) {
  for (const FilledFile& file : files) {
    const fs::path path = fs::path(folder) / file.name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return Error{PLUMB_NOT_FOUND, path.parent_path().string() + ": " + error.message()};
    std::ofstream written(path, std::ios::binary);
    written << file.text;
    written.close();
    if (!written) return Error{PLUMB_NOT_FOUND, path.string() + ": cannot be written"};
    if (!file.is_program) continue;
    fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add, error);
    if (error) return Error{PLUMB_NOT_FOUND, path.string() + ": " + error.message()};
  }
  return {};
}

}  // namespace

std::vector<Offer> offers(const KitPlaces& places) {
  std::vector<Offer> found;
  for (const Kind& kind : kKinds) {
    for (const Language& language : kLanguages) {
      std::error_code ignored;
      if (fs::is_directory(pair_folder(places, kind, language), ignored))
        found.push_back({kind.name, language.name});
    }
  }
  return found;
}

Result<std::vector<std::string>> new_project(const KitPlaces& places,
                                             const ProjectRequest& request) {
  const Kind* kind = find_named(kKinds, request.kind);
  const Language* language = find_named(kLanguages, request.language);
  const std::vector<Offer> known = offers(places);
  const bool is_offered = std::ranges::any_of(known, [&](const Offer& offer) {
    return offer.kind == request.kind && offer.language == request.language;
  });
  if (kind == nullptr || language == nullptr || !is_offered) {
    std::string there;
    for (const Offer& offer : known) {
      there += (there.empty() ? "" : ", ") + std::string(offer.kind) + " in " +
               std::string(offer.language);
    }
    return Error{PLUMB_INVALID_ARGUMENT,
                 "no template for " + request.kind + " in " + request.language + "; there are " +
                     (there.empty() ? "none: " + template_folder(places, "") : there)};
  }
  if (!is_good_id(request.id) || request.id.starts_with("plumb.")) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "name \"" + request.id +
                     "\": expected a vendor and a name in lower case, as acme.fast; plumb. is "
                     "Plumbline's own"};
  }
  if (!is_good_license(request.license)) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "license \"" + request.license + "\": expected an SPDX identifier, as Apache-2.0"};
  }
  const Values values = {
      {"ID", request.id},
      {"NAME", replaced(request.id, '_')},
      {"PACKAGE", replaced(request.id, '-')},
      {"VENDOR", request.id.substr(0, request.id.find('.'))},
      {"LICENSE", request.license},
      {"LICENSE_PLACE", std::string(language->license_place)},
      {"KIND", std::string(kind->name)},
      {"EXTENSION", std::string(kind->extension)},
      {"DESCRIPTION", std::string(kind->description)},
      {"CMAKE_LANGUAGE", language->name == "c" ? "C" : "CXX"},
      {"CI_PACKAGES", std::string(language->ci_packages)},
      {"MATMUL", std::string(language->matmul)},
      {"PLUMBLINE_VERSION", places.version},
      {"RUST_SDK", places.rust_sdk},
      {"PYTHON_SDK", places.python_sdk},
  };
  std::vector<std::string> layers = {template_folder(places, "all")};
  for (const std::string_view layer : language->layers) {
    if (!layer.empty()) layers.push_back(template_folder(places, layer));
  }
  layers.push_back(template_folder(places, language->name));
  layers.push_back(template_folder(places, kind->name));
  layers.push_back(pair_folder(places, *kind, *language));
  PLUMB_ASSIGN(const std::vector<FilledFile> files, fill_templates(layers, values));

  PLUMB_ASSIGN(os::FreshFolder folder, os::FreshFolder::create(request.folder));
  PLUMB_TRY(write_files(folder.path(), files));
  PLUMB_TRY(std::move(folder).publish());
  std::vector<std::string> names;
  for (const FilledFile& file : files) names.push_back(file.name);
  return names;
}

}  // namespace plumbline::kit
