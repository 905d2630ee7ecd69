/* plugin.h: between the door and what stands behind it. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <plumb/plumb.h>

/* The extension that the plugin offers, "plumb.kernels/1", and its table. */
extern const char extension_id[];
extern const void* const extension_table;
/* A hint for "auto": among plugins of one kind the highest is tried first. */
extern const int32_t plugin_rank;

/* Writes the message, cut to its room, and returns the code. */
plumb_status refuse(plumb_error* error, plumb_status code, const char* message);

#endif
