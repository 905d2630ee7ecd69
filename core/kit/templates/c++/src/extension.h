// extension.h: between the door and what stands behind it.
#pragma once

#include <plumb/plumb.h>

/// The table of an extension, as of "plumb.kernels/1", or null.
const void* PLUMB_CALL extension(plumb_str id);

/// A hint for "auto": among plugins of one kind the highest is tried first.
int32_t PLUMB_CALL rank();
