// Preloaded into the ranks of a job, shuts a connection of one of them. YUBA_TEST_CLOSE is five
// words: the rank; after how many seconds; a number, for the choice among the TCP connections that
// it has then, or gets first; the highest port that one of their two ends may have; and a file that
// that then says among how many that was. Nothing else of the process changes; so there is nothing
// of the C++ library, and no malloc, here.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr int kMostFiles = 1024;

unsigned number = 0, highest = 0;
double seconds = 0;
char note[4096];

void Sleep(double duration) {
  const auto whole = static_cast<time_t>(duration);
  const timespec time = {whole, static_cast<long>((duration - static_cast<double>(whole)) * 1e9)};
  nanosleep(&time, nullptr);
}

// Of one end of a TCP connection; more than any where it is none.
unsigned PortOf(const sockaddr_storage& end) {
  if (end.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(end).sin_port);
  if (end.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(end).sin6_port);
  return ~0u;
}

// The connected TCP sockets of this process.
int Connections(int* files) {
  int count = 0;
  for (int file = 0; file < kMostFiles; ++file) {
    sockaddr_storage own = {}, peer = {};
    socklen_t own_length = sizeof own, length = sizeof peer;
    if (getpeername(file, reinterpret_cast<sockaddr*>(&peer), &length) != 0) continue;
    if (getsockname(file, reinterpret_cast<sockaddr*>(&own), &own_length) != 0) continue;
    if (PortOf(own) <= highest || PortOf(peer) <= highest) files[count++] = file;
  }
  return count;
}

// The note is there before: afterwards the process may be ended at once.
bool Shut(int connection, int count) {
  const int file = open(note, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  char text[16];
  const int length = snprintf(text, sizeof text, "%d\n", count);
  const bool is_written = write(file, text, length) == length;
  close(file);
  if (is_written && shutdown(connection, SHUT_RDWR) == 0) return true;
  unlink(note);
  return false;
}

void* Close(void*) {
  Sleep(seconds);
  while (true) {
    int files[kMostFiles];
    const int count = Connections(files);
    if (count > 0 && Shut(files[number % count], count)) return nullptr;
    Sleep(0.001);
  }
}

__attribute__((constructor)) void Begin() {
  const char* rank = getenv("YUBA_RANK");
  if (rank == nullptr) rank = getenv("OMPI_COMM_WORLD_RANK");
  const char* const wanted = getenv("YUBA_TEST_CLOSE");
  int which = 0;
  if (rank == nullptr || wanted == nullptr) return;
  if (sscanf(wanted, "%d %lf %u %u %4095s", &which, &seconds, &number, &highest, note) != 5) return;
  if (atoi(rank) != which) return;
  // Signals are for the process's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, Close, nullptr) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
