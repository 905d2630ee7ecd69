/* plugin.h: how a plugin is born. One exported symbol, one call, then tables of functions by name.
 *
 * The host loads the library, calls plumb_plugin_entry once, and from then on uses the plumb_plugin that it
 * answered with. The order is: entry -> probe -> extension(id) -> the extension's own create ... destroy.
 * A library is never unloaded by default.
 */
#ifndef PLUMB_PLUGIN_H
#define PLUMB_PLUGIN_H

#include "plumb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_LOG_DEBUG 0
#define PLUMB_LOG_INFO 1
#define PLUMB_LOG_WARNING 2

/* What the host does for a plugin. Valid from plumb_plugin_entry until the process ends. */
typedef struct plumb_host {
  uint32_t struct_bytes;
  uint32_t reserved;
  void* context; /* first argument of each function */

  /* One line for the user's log. [any-thread] */
  void(PLUMB_CALL* log)(void* context, int32_t level, plumb_str message);

  /* Maps a file read-only. *out stays valid until unmap. Pages are shared with the file cache.
   * Fails NOT_FOUND (path, reason), CORRUPT (not a regular file, or empty). [any-thread] */
  plumb_status(PLUMB_CALL* map_file)(void* context, plumb_str path, plumb_bytes* out, plumb_handle* mapping,
                                     plumb_error* error);
  /* An unknown mapping is ignored. [any-thread] */
  void(PLUMB_CALL* unmap_file)(void* context, plumb_handle mapping);

  /* A hint: these bytes of a mapping will not be read again soon, so their pages need not stay in memory. They
   * keep their contents. Optional: null if the host does not do it. [any-thread] */
  void(PLUMB_CALL* drop_pages)(void* context, plumb_handle mapping, uint64_t offset, uint64_t bytes);

  /* Another plugin's table, for a plugin that wraps others: chosen as the host chooses for a config, plugin being an
   * id or "auto". Never the caller's own, nor that of a plugin which wraps the caller: wrapping cannot go in a circle.
   * *host is what the table's create must be given. Optional: null in plumb_offer.host, and if the host does not do it.
   * Fails NOT_FOUND, INVALID_CONFIG (a circle), and as loading the plugin does. Not from probe, rank or extension,
   * which the host calls while it chooses. [any-thread] */
  plumb_status(PLUMB_CALL* find_extension)(void* context, plumb_str extension, plumb_str plugin, const void** table,
                                           const struct plumb_host** host, plumb_error* error);
} plumb_host;

/* The rank of a plugin that is only for those who name it: "auto" never takes it. */
#define PLUMB_RANK_NAMED_ONLY INT32_MIN

/* What the host offers at the door. */
typedef struct plumb_offer {
  uint32_t struct_bytes;
  uint32_t version_oldest; /* the host speaks every version in [version_oldest, version_newest] */
  uint32_t version_newest;
  uint32_t reserved;
  const plumb_host* host;
} plumb_offer;

struct plumb_plugin;

/* What the plugin answers. The host sets struct_bytes. The plugin always fills in its own range, also when it
 * refuses, so that the host can print both. */
typedef struct plumb_answer {
  uint32_t struct_bytes;
  uint32_t version; /* the version that both will speak: the newest in both ranges */
  uint32_t version_oldest;
  uint32_t version_newest;
  const struct plumb_plugin* plugin; /* static: valid until the process ends */
} plumb_answer;

/* A plugin as the host sees it before it has made anything. */
typedef struct plumb_plugin {
  uint32_t struct_bytes;
  uint32_t reserved;
  plumb_str id;          /* "plumb.cpu.avx2": lower case, dots; the name used in configs and reports */
  plumb_str version;     /* the plugin's own semantic version */
  plumb_str vendor;      /* who made it */
  plumb_str license;     /* SPDX identifier */
  plumb_str description; /* one line */
  plumb_str build;       /* compiler, flags, commit: what a report needs to tell two builds apart */

  /* Can this plugin run on this machine? OK, or UNSUPPORTED with the reason. Must be safe on the oldest
   * machine of its architecture: compiled without ISA flags and without LTO, and asking for the operating
   * system's support (saved registers) as well as the processor's. [any-thread] */
  plumb_status(PLUMB_CALL* probe)(plumb_error* error);

  /* A hint: among plugins of one kind that can run, the highest rank is tried first. [any-thread]
   * PLUMB_RANK_NAMED_ONLY: not at all, unless a config names it. */
  int32_t(PLUMB_CALL* rank)(void);

  /* The table for an extension id ("plumb.kernels/1"), or null if the plugin does not have it. The table's
   * type is the one that the header of that extension names. Static. [any-thread] */
  const void*(PLUMB_CALL* extension)(plumb_str id);
} plumb_plugin;

/* The one exported symbol. INCOMPATIBLE if the ranges do not meet (the error names both and the remedy).
 * Must not allocate, start threads or touch the floating-point state. */
typedef plumb_status(PLUMB_CALL* plumb_plugin_entry_fn)(const plumb_offer* offer, plumb_answer* answer,
                                                        plumb_error* error);
#define PLUMB_PLUGIN_ENTRY "plumb_plugin_entry"

/* The side-car manifest (JSON, beside the library, NAME.plugin.json) lists a plugin without loading it:
 * {"id", "version", "abi": [oldest, newest], "extensions": [...], "vendor", "license", "description"}. */

#ifdef __cplusplus
}
#endif
#endif
