// How jemalloc keeps memory (jemalloc(3), TUNING). It reads this before main; the variable
// MALLOC_CONF is read after it, and wins.
//
// Searches free large tables and soon ask for others, so pages go back after a minute and not after
// ten seconds; and where the kernel has huge pages, 2 MB are touched with one fault instead of 512.
const char* malloc_conf = "thp:always,dirty_decay_ms:60000,muzzy_decay_ms:60000";
