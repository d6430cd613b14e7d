#include "cli/help/topics.hpp"

namespace holdfast::cli {

const std::string_view kExitCodesTopic = R"(exit codes

  run passes the exit code of its command on. Everything else:

    0   done
    1   show, ls --exit-code: no such lock; release: that fence does not hold it (any more)
   64   the command line is wrong
   65   a name, URL or duration is wrong, or the name is in use as another kind of lock
   69   the store cannot be reached, is full or did not answer
   70   internal error
   71   the operating system refused something: fork, memory, output; or somebody killed the guardian
   73   the embedded store cannot be created
   75   busy: not acquired in time (run -E changes it)
   76   the store answered nonsense, is damaged or of another version
   77   no permission
   78   this store cannot do that, or the semaphore has another number of permits
   80   the lock was lost while the command ran; the command was stopped
  126   the command cannot be executed
  127   the command was not found
  128+n the command died of signal n, or run was stopped by it while it waited (130: ^C)

  A command may return 75 or 80 itself: run --status-fd FD tells them apart.
)";

const std::string_view kUrlsTopic = R"(store URLS

  -S URL, or $HOLDFAST_URL, or else embedded:

  embedded:          a file of this user on this machine
  sqlite:/path.db    a file that all users of the lock name; on a local file system
  dir:/path          a folder that all users of the lock see; plain locks only
  redis://host       a Redis server, port 6379; rediss:// with TLS, redis+unix:///path for a socket
  zk://host,host     ZooKeeper servers, port 2181; zks:// with TLS
  memory:            inside this one process only: for trying things out

  Options follow a question mark: scheme:rest?key=value&key=value. Passwords in URLs are never shown;
  they are visible to others in the arguments of a process, so prefer $HOLDFAST_URL, or
  redis://user@host?password_file=/path, or ?password_env=NAME.
)";

const std::string_view kSafetyTopic = R"(SAFETY: what a lock can promise

  run holds NAME while CMD works: nobody else holds it at the same time, as long as the clocks of the
  machines run at about the same rate and the store keeps its data.

  A lease is how long the lock survives without news from its holder. run renews it; when it cannot,
  it ends CMD (--on-lost) so early that --grace is over when the lease is: nobody else has the lock
  before CMD and all its descendants are gone. Only after release --now, or if run and its guardian
  were killed together, another may have it earlier.

  A process can be paused at any moment, between checking that it holds and writing. So send
  $HOLDFAST_FENCE with each write: it grows with every holder, and a resource that refuses smaller
  fences than the greatest it has seen cannot be harmed. One that does not check is not protected.

  If run is killed, even with -9, CMD and all its descendants are ended before the lock is passed on.
  Processes that CMD leaves in its process group are waited for; those that made a session of their
  own (daemons) are left alone when CMD ends by itself, and do not hold the lock.

  release ends somebody else's hold. Without --now exclusion is kept: the holder is told, and the lock
  is free when it lets go or its lease ends. With --now the holder may still be at work.
)";

}  // namespace holdfast::cli
