/* plumb.h: table of contents of the public C11 interface. */
#ifndef PLUMB_PLUMB_H
#define PLUMB_PLUMB_H

#include "plumb/base.h"
#include "plumb/ext/kernels.h"
#include "plumb/ext/loader.h"
#include "plumb/ext/model_source.h"
#include "plumb/ext/model_writer.h"
#include "plumb/ext/output_parser.h"
#include "plumb/ext/sampler.h"
#include "plumb/ext/template.h"
#include "plumb/ext/tokenizer.h"
#include "plumb/formats.h"
#include "plumb/metadata.h"
#include "plumb/plugin.h"

#endif
