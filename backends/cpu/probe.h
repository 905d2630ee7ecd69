// probe.h: can this machine run the kernels that the plugin was compiled with?
#pragma once

namespace plumbline::cpu {

/// What is missing, as a static string, or null if nothing is.
const char* missing_feature();
/// The wider the vectors, the higher.
int preference();

}  // namespace plumbline::cpu
