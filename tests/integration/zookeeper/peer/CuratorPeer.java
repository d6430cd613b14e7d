// What other people's Java programs do: locks by Apache Curator, told by lines.
//
//   java CuratorPeer HOSTS SESSION_MS        says "peer ready" once it is connected
//
// A line to it is WHO VERB ARGUMENTS, and it answers with WHO and what came of it. Each WHO is a thread, since
// Curator's locks belong to threads; what different ones are told they do at the same time.
//
//   WHO acquire KIND PATH WAIT_MS            held | busy            KIND: mutex, revocable, read or write
//   WHO release KIND PATH                    released
//   WHO take PATH MAX COUNT WAIT_MS          held | busy            leases of a semaphore
//   WHO give_back PATH                       released               all of its leases
//   WHO revoke NODE                          asked                  of whoever holds by that node
//   WHO participants PATH                    the nodes of a mutex, in their order
//   WHO pairs PATH THREADS MS one|each       how often per second, and the median in us; each: PATH0, PATH1, …
//   WHO count FILE PATH TIMES                counted                raises the number in the file, under the mutex; -: without
//   WHO session                              its number
//   WHO expire                               expired                its own session, as seen from the server
//
// Anything may instead be answered by "failed" and a reason. Two lines come by themselves: "WHO asked to release"
// for a revocable mutex, and "peer" with the state of the connection whenever it changes. It ends with its input.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooKeeper;

public final class CuratorPeer {
  private final CuratorFramework client;
  private final String hosts;
  private final Map<String, Actor> actors = new HashMap<>();

  private CuratorPeer(String hosts, int sessionMs) throws Exception {
    this.hosts = hosts;
    client = CuratorFrameworkFactory.builder()
        .connectString(hosts)
        .sessionTimeoutMs(sessionMs)
        .retryPolicy(new RetryForever(50))
        .build();
    client.getConnectionStateListenable().addListener((ignored, state) -> say("peer", state.toString()));
    client.start();
    client.blockUntilConnected();
  }

  public static void main(String[] arguments) throws Exception {
    CuratorPeer peer = new CuratorPeer(arguments[0], Integer.parseInt(arguments[1]));
    say("peer", "ready");
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ");
      peer.actors.computeIfAbsent(words[0], who -> peer.new Actor(who)).act(words);
    }
    Runtime.getRuntime().halt(0);  // as processes end: the session is left behind
  }

  private static synchronized void say(String who, String what) {
    System.out.println(who + " " + what);
    System.out.flush();
  }

  private final class Actor {
    private final String who;
    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    private final Map<String, InterProcessMutex> mutexes = new HashMap<>();
    private final Map<String, InterProcessReadWriteLock> pairs = new HashMap<>();
    private final Map<String, InterProcessSemaphoreV2> semaphores = new HashMap<>();
    private final Map<String, List<Lease>> leases = new HashMap<>();

    Actor(String who) {
      this.who = who;
    }

    void act(String[] words) {
      thread.execute(() -> {
        try {
          say(who, outcome(words));
        } catch (Exception error) {
          say(who, "failed " + error);
        }
      });
    }

    private String outcome(String[] words) throws Exception {
      switch (words[1]) {
        case "acquire":
          return lock(words[2], words[3]).acquire(ms(words[4]), TimeUnit.MILLISECONDS) ? "held" : "busy";
        case "release":
          lock(words[2], words[3]).release();
          return "released";
        case "take":
          return take(words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4]), ms(words[5]));
        case "give_back":
          semaphores.get(words[2]).returnAll(leases.remove(words[2]));
          return "released";
        case "revoke":
          Revoker.attemptRevoke(client, words[2]);
          return "asked";
        case "participants":
          return String.join(" ", new InterProcessMutex(client, words[2]).getParticipantNodes());
        case "pairs":
          return measure(words[2], Integer.parseInt(words[3]), ms(words[4]), words[5].equals("each"));
        case "count":
          return count(words[2], words[3], Integer.parseInt(words[4]));
        case "session":
          return Long.toString(zooKeeper().getSessionId());
        case "expire":
          expire();
          return "expired";
        default:
          throw new IllegalArgumentException(words[1]);
      }
    }

    private InterProcessMutex lock(String kind, String path) {
      switch (kind) {
        case "mutex":
          return mutexes.computeIfAbsent(path, name -> new InterProcessMutex(client, name));
        case "revocable":
          return mutexes.computeIfAbsent(path, this::revocable);
        case "read":
          return pair(path).readLock();
        case "write":
          return pair(path).writeLock();
        default:
          throw new IllegalArgumentException(kind);
      }
    }

    private InterProcessMutex revocable(String path) {
      InterProcessMutex mutex = new InterProcessMutex(client, path);
      mutex.makeRevocable(ignored -> say(who, "asked to release"));
      return mutex;
    }

    private InterProcessReadWriteLock pair(String path) {
      return pairs.computeIfAbsent(path, name -> new InterProcessReadWriteLock(client, name));
    }

    private String take(String path, int max, int count, long waitMs) throws Exception {
      InterProcessSemaphoreV2 semaphore =
          semaphores.computeIfAbsent(path, name -> new InterProcessSemaphoreV2(client, name, max));
      Collection<Lease> taken = semaphore.acquire(count, waitMs, TimeUnit.MILLISECONDS);
      if (taken == null) return "busy";
      leases.computeIfAbsent(path, name -> new ArrayList<>()).addAll(taken);
      return "held";
    }

    private String count(String file, String path, int times) throws Exception {
      boolean guarded = !path.equals("-");
      try (RandomAccessFile number = new RandomAccessFile(file, "rw")) {
        for (int i = 0; i < times; ++i) {
          if (guarded) lock("mutex", path).acquire();
          raise(number);
          if (guarded) lock("mutex", path).release();
        }
      }
      return "counted";
    }
  }

  private static long ms(String text) {
    return Long.parseLong(text);
  }

  private ZooKeeper zooKeeper() throws Exception {
    return client.getZookeeperClient().getZooKeeper();
  }

  // Ten digits, read and written without any care: only a lock keeps the number right.
  private static void raise(RandomAccessFile number) throws Exception {
    byte[] digits = new byte[10];
    number.seek(0);
    number.readFully(digits);
    Thread.yield();
    long raised = Long.parseLong(new String(digits)) + 1;
    number.seek(0);
    number.write(String.format("%010d", raised).getBytes());
  }

  // A second connection that says it is the same session, and ends it.
  private void expire() throws Exception {
    ZooKeeper victim = zooKeeper();
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper twin = new ZooKeeper(hosts, victim.getSessionTimeout(), event -> connected.countDown(),
        victim.getSessionId(), victim.getSessionPasswd());
    connected.await();
    twin.close();
  }

  // Threads that take a mutex and give it back, again and again, for so long.
  private String measure(String path, int threads, long durationMs, boolean oneEach) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    CountDownLatch ready = new CountDownLatch(threads);
    InterProcessMutex common = new InterProcessMutex(client, path);
    List<Future<long[]>> results = new ArrayList<>();
    for (int i = 0; i < threads; ++i) {
      InterProcessMutex mutex = oneEach ? new InterProcessMutex(client, path + i) : common;
      Callable<long[]> work = () -> {
        ready.countDown();
        ready.await();
        return pairs(mutex, durationMs);
      };
      results.add(pool.submit(work));
    }
    List<long[]> all = new ArrayList<>();
    for (Future<long[]> result : results) all.add(result.get());
    pool.shutdown();
    long[] times = all.stream().flatMapToLong(Arrays::stream).sorted().toArray();
    double perSecond = 1000.0 * times.length / durationMs;
    return perSecond + " " + (times.length == 0 ? 0 : times[times.length / 2] / 1000.0);
  }

  private static long[] pairs(InterProcessMutex mutex, long durationMs) throws Exception {
    List<Long> times = new ArrayList<>();
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(durationMs);
    for (long now = System.nanoTime(); now < end; ) {
      mutex.acquire();
      mutex.release();
      long later = System.nanoTime();
      times.add(later - now);
      now = later;
    }
    return times.stream().mapToLong(Long::longValue).toArray();
  }
}
