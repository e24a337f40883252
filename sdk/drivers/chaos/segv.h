#pragma once

/// Writes where nothing may be written. A compiler that optimises cannot know the address: it would
/// leave out what no correct program does.
inline void segv() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}
