/* The door: what the plugin is, and which tables it has. */
#include "plugin.h"

#include <stdio.h>
#include <string.h>

plumb_status refuse(plumb_error* error, plumb_status code, const char* message) {
  if (error != NULL && error->message != NULL) {
    size_t n = strlen(message);
    if (n > error->capacity_bytes) n = error->capacity_bytes;
    memcpy(error->message, message, n);
    error->message_bytes = (uint32_t)n;
  }
  return code;
}

/* It runs on any machine. One that needs an instruction set asks for it here. */
static plumb_status PLUMB_CALL probe(plumb_error* error) {
  (void)error;
  return PLUMB_OK;
}

static int32_t PLUMB_CALL rank(void) {
  return plugin_rank;
}

static const void* PLUMB_CALL extension(plumb_str id) {
  if (id.bytes != strlen(extension_id) || memcmp(id.data, extension_id, id.bytes) != 0) return NULL;
  return extension_table;
}

#define TEXT(s) \
  { s, sizeof(s) - 1 }
static const plumb_plugin plugin = {
    .struct_bytes = sizeof(plumb_plugin),
    .id = TEXT(PLUMB_PLUGIN_ID),
    .version = TEXT(PLUMB_PLUGIN_VERSION),
    .vendor = TEXT(PLUMB_PLUGIN_VENDOR),
    .license = TEXT(PLUMB_PLUGIN_LICENSE),
    .description = TEXT(PLUMB_PLUGIN_DESCRIPTION),
    .build = TEXT(PLUMB_PLUGIN_BUILD),
    .probe = probe,
    .rank = rank,
    .extension = extension,
};

PLUMB_EXPORT plumb_status PLUMB_CALL plumb_plugin_entry(const plumb_offer* offer,
                                                        plumb_answer* answer, plumb_error* error) {
  if (offer == NULL || answer == NULL || !PLUMB_HAS(offer, plumb_offer, version_newest) ||
      !PLUMB_HAS(answer, plumb_answer, plugin)) {
    return refuse(error, PLUMB_INVALID_ARGUMENT, "offer or answer is missing or too short");
  }
  answer->version_oldest = PLUMB_ABI_OLDEST;
  answer->version_newest = PLUMB_ABI_VERSION;
  if (offer->version_oldest > PLUMB_ABI_VERSION || offer->version_newest < PLUMB_ABI_OLDEST) {
    char message[160];
    snprintf(message, sizeof message, "plugin speaks ABI %u to %u, host %u to %u: %s",
             PLUMB_ABI_OLDEST, PLUMB_ABI_VERSION, offer->version_oldest, offer->version_newest,
             offer->version_newest < PLUMB_ABI_OLDEST ? "use a newer host" : "rebuild the plugin");
    return refuse(error, PLUMB_INCOMPATIBLE, message);
  }
  answer->version =
      offer->version_newest < PLUMB_ABI_VERSION ? offer->version_newest : PLUMB_ABI_VERSION;
  answer->plugin = &plugin;
  return PLUMB_OK;
}
