// The door: what the plugin is, and which tables it has.
#include <plumb/sdk/entry.h>

#include "extension.h"

// It runs on any machine. One that needs an instruction set says so by a probe of its own.
PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, rank, extension)
