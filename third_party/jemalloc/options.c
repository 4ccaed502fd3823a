// How jemalloc keeps memory (jemalloc(3), TUNING). It reads this before main; the variable
// MALLOC_CONF is read after it, and wins.
//
// Searches free large tables and soon ask for others, so pages go back after a minute and not after
// ten seconds. Without `thp:always`: huge pages take a fifth off a search of three seconds, and add a
// tenth to one of a minute that has 4 GB (decision 143).
const char* malloc_conf = "dirty_decay_ms:60000,muzzy_decay_ms:60000";
