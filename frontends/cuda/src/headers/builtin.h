// NVRTC declares printf, assert, memcpy, memset, malloc, free, size_t and similar names itself.
#pragma once
