/* THE LINE, THE HAND-OVER AND THE LATE ANSWER, on one lease store
 *
 * Problem.  Claims ask a store for one lock.  Requests and answers are lost, late, or executed long after the asker gave
 * up; clients pause, crash, and end their wait.  The store hands a free lock to the head of its line as an OFFER with a
 * short confirm lease.  When may a client believe that it holds the lock, and for how long, so that no two ever do,
 * nothing stays behind, and nobody is forgotten?
 *
 * Algorithm (what the code does; the default of this model)
 *   A1  Every verb is one atomic step of the store.  Every write compares owner and fence.  renew never re-creates a record;
 *       it sets the lease that it asks for, also a shorter one.  A free lock is offered to the head of its line by
 *       whichever verb comes by.
 *   A2  A Hold counts from the SENDING of the verb whose answer gave it (try_grant or renew), never from a wake, from an
 *       answer's arrival or from an earlier request.  A renewal of a Hold counts if its answer comes before the old
 *       deadline, be it the latest renewal or one that was given up.
 *   A3  An offer told by a wake is confirmed by a renew of (owner, fence) first.  Gone: try again, at the end of the line.
 *       No answer: try_grant as the same owner.
 *   A4  Refused: watch, try once more, sleep until a wake or the timer.  One verb in flight per claim; a wake that comes
 *       meanwhile is kept until the answer.
 *   A5  The engine gives up on a verb at the verb's deadline; its answer may still come.  Once the claim has ENDED a late
 *       grant is released and a late refusal becomes a withdraw; while it waits or holds, both are dropped; while it
 *       withdraws, they cause one more withdraw.  A claim has ended when nothing in this process waits or holds under its
 *       owner any more, hand-offs included.
 *   A6  At the end of its wait a claim first waits for the verb in flight: granted, the Hold is delivered; else withdraw.
 *   A7  Once a withdraw is sent the claim yields no Hold.  Withdraw and release are repeated until answered; the engine
 *       may stop repeating at any time (the code: after one lease).
 *   A8  Hand-off (-DSPARE=k): a grant reserves fences f .. f+k.  A released Hold may go to a local waiter with the next
 *       fence of the range, under the same owner, the same store record and the SAME deadline; never once the release
 *       has been sent, nor once a renewal has asked for less than the lease (max_hold): that one may be executed late,
 *       under the successor.  The store is addressed by its own fence f throughout.
 *   A9  Revoke (-DREVOKES=n): the record is marked.  From then on it is not prolonged: renew answers gone, the owner's own
 *       repeated try_grant is refused (and lined up) like a stranger's.  The lock is free at the holder's release or
 *       withdraw, or at lease end.
 *
 * Properties (every assertion bears its tag)
 *   S1   never two valid Holds
 *   S1p  the store never gives the lock away under a valid Hold                                          (S1' in the texts)
 *   S2   fences of returned Holds grow strictly in the order of returning, hand-offs included
 *   S2p  (-DSTALL: the clients' clocks stand still) a Hold's fence is above every fence returned before its last request
 *        left, and no two Holds ever share one: the order of fences rests on no clock                             (S2')
 *   S3   an ended or dead claim, its requests drained, holds nothing and stands in no line after one LEASE
 *   S3p  a claim whose withdraw was executed, with no request of it executed since, leaves nothing at all          (S3')
 *   S4   no self-deadlock: a claim is never refused because of its own earlier request
 *   S5   a revoked grant is gone within one LEASE of the revoke
 *   L1   (-DLIVE) no live waiter for more than IDLE ticks without a valid Hold anywhere.  As claims are finite, every live
 *        waiter ends up holding
 *
 * Variants that must fail: one rule broken each, and the property that must notice
 *   clients  -DWAKECOUNT=v    A2 A3  the wake gives the Hold, v ticks from its arrival                      S1p
 *            -DTRYCOUNT=v     A2 A3  the wake gives the Hold, v ticks from the refused try's sending        S1p, S1
 *            -DANSWERCOUNT    A2     the lease is counted from the answer                                   S1p
 *            -DNEWOWNER       A3     after a lost answer ask again as a new owner                           S4
 *            -DNORETRY        A4     no second try after subscribing                                        L1
 *            -DLATEREL        A5     a late grant is released though its claim waits or holds               S1p
 *            -DLATEWD         A5     a late refusal becomes a withdraw though its claim waits or holds      S1p
 *            -DENDHOLD        A6 A7  withdraw at the end of the wait, yet the crossing grant is delivered   S1p
 *            -DWDHOLD         A7     a wake that crosses a withdraw is confirmed and yields the Hold        S1p
 *   hand-off -DHANDLATE       A5     a claim counts as ended once its FIRST Hold was handed on              S1p
 *            -DHANDRESTART    A8     the hand-off restarts the validity                                     S1p
 *            -DHANDRELEASED   A8     hand-off although the release is under way                             S1p
 *            -DHANDBEYOND     A8     hand-off beyond the reserved range                                     S2
 *            -DNORESERVE      A8     the store's counter does not skip the reserved range                   S2
 *            -DHANDSHORT      A8     (with -DMAXHOLD) hand-off although a renewal asked for less            S1p
 *   store    -DRECREATE       A1     renew re-creates an absent record                                      S2
 *            -DRENEWOWNER     A1     renew compares the owner but not the fence                             S2
 *            -DRELANY         A1     release compares neither                                               S1p
 *            -DKEEPFENCE             a hand-over keeps the old fence                                        S2, S2p
 *            -DWDNOREL               withdraw leaves the line only, a grant made meanwhile stays            S3p
 *            -DNOSKIP                heads past their deadline are not skipped                              S3
 *            -DLD=4                  line deadline + confirm lease longer than the lease                    S3
 *            -DNOCONFIRM             an offer has the full lease at once                                    L1
 *   revoke   -DREVOKENOW      A9     the revoke frees the lock                                              S1p
 *            -DREVOKERENEW    A9     renew goes on after the revoke                                         S5
 *            -DREVOKETRY      A9     the owner's repeated try_grant restarts the lease                      S5
 *            -DREVOKEGRANT    A9     ... is granted without restarting it; the client counts a whole lease  S1p
 *            -DREVOKEACK      A9     ... is taken for the holder's acknowledgement                          S1p
 * Settings that must pass
 *   -DONESHOT   the last claim makes one attempt only: it never lines up, and ends when refused (withdraws, if an attempt
 *               before that had no answer)
 *   -DMAXHOLD   the first Hold of every grant may last MAXHOLD ticks; its renewals ask only for what is left of them
 *   -DPROVE     the store skips a head without a subscriber at once
 *
 * Method.  In safety runs ticks, losses, delays and doubled wakes are free: a slow store, a paused client, a late message
 * are all covered.
 * In live runs the faults may end at any moment ("calm"); from then on everything that can move moves before the next tick.
 * All clocks tick together, so the drift allowance is 0.  Every timer counts down, so no horizon is needed; only grants
 * (GRANTS) and faults (GIVEUPS, ENDS, CRASHES, REVOKES) are bounded.
 * Sizes: N claims in all, C of them alive at once.  Scope: -DCALM0 (live, no faults), -DCRASHW (only idle waiters crash),
 * -DJUST=tag (assert that property alone).  Marks (MARK) show that a run came by the interesting places.
 * Run: ./check.sh short|long
 */
#ifndef N
#define N 2
#endif
#ifndef C
#define C N
#endif
#ifndef LEASE
#define LEASE 3
#endif
#ifndef CONF
#define CONF 1            /* the confirm lease of an offer */
#endif
#ifndef LD
#define LD 2              /* the line deadline; LD + CONF <= LEASE */
#endif
#ifndef POLL
#define POLL 1            /* the longest sleep of a waiting claim */
#endif
#ifndef SPARE
#define SPARE 0
#endif
#ifndef GRANTS
#define GRANTS 4
#endif
#ifndef GIVEUPS
#define GIVEUPS 1
#endif
#ifndef ENDS
#define ENDS 1            /* waits that end: deadline or stop */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef REVOKES
#define REVOKES 0
#endif
#ifndef IDLE
#define IDLE 250
#endif

/* ---- properties and marks; check.sh knows the numbers ------------------------------------------------------------- */
#define S1  1
#define S1p 2
#define S2  3
#define S2p 4
#define S3  5
#define S3p 6
#define S4  7
#define S5  8
#define L1  9
#if !defined(JUST)
#define PROP(tag, c) assert(tag && (c))
#else
#define PROP(tag, c) assert(tag && (JUST != tag || (c)))
#endif
c_decl { static unsigned char mark_[16]; }
#define MARK(n) c_code { if (!mark_[n]) { mark_[n] = 1; printf("mark %d\n", n); } }
#define CONFIRMED  1      /* a Hold from a confirming renew */
#define OFFERGONE  2      /* the offer was gone when confirmed */
#define RETRIED    3      /* a confirming renew without an answer, so a try_grant */
#define LATEGRANT  4      /* a late grant of an ended claim released */
#define LATEREFUSE 5      /* a late refusal of an ended claim withdrawn */
#define LASTANSWER 6      /* the wait had ended, the verb in flight brought the Hold */
#define WDGRANT    7      /* a withdraw released a grant made meanwhile */
#define WDMORE     8      /* a late answer caused one more withdraw */
#define LATERENEW  9      /* the late answer of an earlier renewal lengthened a Hold */
#define RESTWAKE   10     /* a wake confirmed while resting after an unanswered try_grant */
#define HANDOFF    11     /* a Hold handed on */
#define REVOKED    12     /* a renewal of a valid Hold refused because it is revoked */
#define REVOKEDTRY 13     /* the owner's own try_grant refused because its grant is revoked */

/* ---- claims: claim_machine up to CONFM and in WDR, lease_machine in HELD ------------------------------------------ */
#define NEW    0
#define TRY    1          /* wants a try_grant: in flight, or resting after one without an answer */
#define WATCH  2          /* refused, not subscribed yet */
#define SLEEP  3          /* refused, subscribed, waiting for a wake or its timer */
#define CONFM  4          /* knows of an offer, wants a renew */
#define HELD   5          /* a caller has the Hold; valid while vl > 0; a renew may be in flight */
#define RELS   6          /* wants a release */
#define WDR    7          /* wants a withdraw */
#define DONE   8
#define DEAD   9
#define WAITING(o) (cs[o] >= TRY && cs[o] <= CONFM)

byte cs[N+1];             /* state */
byte fn[N+1];             /* the store's fence of the offer or Hold */
byte vl[N+1];             /* validity left, by the client's own count */
bool en[N+1];             /* TRY, CONFM: the wait has ended, the verb in flight is waited for */
bool mo[N+1];             /* WDR: a late answer showed that one more withdraw is needed; ONESHOT, TRY: one had no answer */
bool sub[N+1];            /* subscribed */
bool fl[N+1];             /* a verb is in flight, in slot 0 */
#if SPARE > 0
byte ha[N+1];             /* hand-offs so far: the Hold's fence is fn + ha */
#endif
#ifdef MAXHOLD
byte mh[N+1];             /* ticks left of max_hold, for the first Hold of a grant */
#define VALID(o) (cs[o] == HELD && vl[o] > 0 && (ha[o] > 0 || mh[o] > 0))
#define ASK(o)   (ha[o] > 0 || mh[o] > LEASE -> LEASE : mh[o])
bool sh[N+1];             /* a renewal of this grant asked for less than the lease */
#else
#define VALID(o) (cs[o] == HELD && vl[o] > 0)
#endif

/* ---- the network: two slots per owner: 0 the verb in flight, 1 an abandoned one (0 too while fl[] is false) -------- */
#define REQ 1             /* ss: request under way */
#define REP 2             /* ss: executed, answer under way */
#define T_  1             /* sb: try_grant, */
#define C_  2             /*     renew that confirms an offer, */
#define R_  3             /*     renew of a Hold, */
#define L_  4             /*     release, */
#define W_  5             /*     withdraw; */
#define OK_ 6             /* or granted / confirmed / released / withdrawn, */
#define NO_ 7             /*    refused / offer gone, */
#define RN_ 8             /*    renewed, */
#define GN_ 9             /*    gone */
#define S(o,i) (2*(o)+(i))
byte ss[2*N+2]; byte sb[2*N+2]; byte sf[2*N+2]; byte sa[2*N+2];   /* state, verb or result, fence, ticks since sent */
#ifdef MAXHOLD
byte sq[2*N+2];           /* the lease a renewal asks for */
#endif
byte wk[N+1];             /* a wake under way, or kept: the fence it carries */
#define FREE(o)   (ss[S(o,0)] == 0 || ss[S(o,1)] == 0)
#define LATE(o,i) (ss[S(o,i)] == REP && (i == 1 || !fl[o]))
#define RENEWAL(k) (sb[k] == R_ || sb[k] >= RN_)

/* ---- the store: lock_table ---------------------------------------------------------------------------------------- */
byte ho; byte hf; byte hl;       /* holder, fence, lease left */
byte ctr;                        /* the fence counter */
byte ln[N+1]; byte nl;           /* the line: ln[0..nl-1] */
byte ll[N+1];                    /* deadline of each line entry, as ticks left */
#if REVOKES > 0
bool rv;                         /* the grant is revoked */
#define REVOKED_ rv
#else
#define REVOKED_ false
#endif

/* ---- bounds and monitors ------------------------------------------------------------------------------------------ */
byte giveups = GIVEUPS; byte ends = ENDS; byte crashes = CRASHES;
byte started; byte nact;
byte maxret;                     /* greatest fence returned */
byte gf[N+1];                    /* ticks since the claim was over and its requests drained, while a ghost is left */
bool dirt[N+1];                  /* a try_grant was executed since the last withdraw */
#if REVOKES > 0
byte revokes = REVOKES; byte rvt;    /* ticks since the revoke, while the grant stands */
#endif
#ifdef STALL
short seen; byte sm[2*N+2];      /* fences returned; maxret when the request left */
#endif
#ifdef TRYCOUNT
byte ag[N+1];                    /* ticks since the refused try_grant was sent */
#endif
#ifdef NEWOWNER
byte par[N+1]; byte heir;        /* the owner this claim went by before; the one who wants an heir */
#endif
#ifdef LIVE
bool calm; byte idle; byte sl[N+1];
#define CALM calm
#else
#define CALM false
#endif

inline freeslot(k_) {
  ss[k_] = 0; sb[k_] = 0; sf[k_] = 0; sa[k_] = 0;
#ifdef MAXHOLD
  sq[k_] = 0;
#endif
#ifdef STALL
  sm[k_] = 0;
#endif
}

/* ======================================== the store's verbs ======================================================== */
inline unline(o_) {              /* take o_ out of the line */
  x = 0; y = 0;
  do
  :: x < nl -> if :: ln[x] != o_ -> ln[y] = ln[x]; y++ :: else fi; x++
  :: else -> break
  od;
  do :: x > y -> x--; ln[x] = 0 :: else -> break od;
  nl = y; ll[o_] = 0; x = 0; y = 0
}
inline lineup(o_) {              /* enter once; later calls only refresh the deadline */
#ifdef ONESHOT
  if
  :: o_ == N
  :: else ->
#endif
  x = 0;
  do :: x < nl && ln[x] != o_ -> x++ :: else -> break od;
  if :: x == nl -> ln[nl] = o_; nl++ :: else fi;
  ll[o_] = LD; x = 0
#ifdef ONESHOT
  fi
#endif
}
inline vacate() {                /* the record goes */
  ho = 0; hf = 0; hl = 0;
#if REVOKES > 0
  rv = false; rvt = 0
#endif
}
inline give(o_, lease_) {        /* every way the lock changes hands */
  x = 1;
  do
  :: x <= N -> PROP(S1p, !VALID(x)); x++
  :: else -> break
  od; x = 0;
  ho = o_; hl = lease_; ctr++; hf = ctr;
#ifndef NORESERVE
  ctr = ctr + SPARE
#endif
}
inline handover() {              /* the lock is free: offer it to the head of the line, if there is one */
  do
  :: nl == 0 -> break
#ifdef PROVE
  :: nl > 0 && !sub[ln[0]] -> z = ln[0]; unline(z); z = 0
  :: nl > 0 && sub[ln[0]] -> z = ln[0]; unline(z);
#else
  :: nl > 0 -> z = ln[0]; unline(z);
#endif
#ifdef NOCONFIRM
     give(z, LEASE);
#else
     give(z, CONF);
#endif
#ifdef KEEPFENCE
     if :: h > 0 -> ctr--; hf = h :: else fi;
#endif
     if                          /* tell it.  With an older wake still on the way that one arrives and this one is lost; */
     :: sub[z] && (wk[z] == 0 || CALM) -> wk[z] = hf     /* the older may be lost first */
     :: else
     fi;
#ifdef LIVE
     if :: nl > 0 && sub[ln[0]] && sl[ln[0]] > CONF -> sl[ln[0]] = CONF :: else fi;     /* the second is told when to look */
#endif
     z = 0; break
  od
}
inline exec(o, k) {              /* the verb in slot k, of owner o */
  f = 0; r = NO_; h = hf;
  if
  :: sb[k] == T_ ->
     dirt[o] = true;
#if REVOKES > 0 && defined(REVOKEACK)
     if :: ho == o && rv -> vacate(); handover() :: else fi;
#endif
     if
#if REVOKES > 0 && defined(REVOKEGRANT)
     :: ho == o && rv -> r = OK_
     :: ho == o && !rv -> hl = LEASE; r = OK_
#elif REVOKES > 0 && !defined(REVOKETRY)
     :: ho == o && rv -> MARK(REVOKEDTRY); lineup(o)
     :: ho == o && !rv -> hl = LEASE; r = OK_
#else
     :: ho == o -> hl = LEASE; r = OK_                          /* same owner: same fence, the lease restarts */
#endif
     :: ho == 0 && (nl == 0 || ln[0] == o) -> unline(o); give(o, LEASE); r = OK_
     :: ho == 0 && nl > 0 && ln[0] != o ->                      /* a stranger serves the line */
        handover();
#ifdef PROVE
        if
        :: ho == 0 -> give(o, LEASE); r = OK_
        :: ho == o -> hl = LEASE; r = OK_
        :: ho != 0 && ho != o -> lineup(o)
        fi
#else
        lineup(o)
#endif
     :: ho != 0 && ho != o -> lineup(o)
     fi;
     if :: r == OK_ -> f = hf :: else fi;
#ifdef NEWOWNER
     PROP(S4, r == OK_ || par[o] == 0 || ho != par[o])
#endif
  :: sb[k] == C_ || sb[k] == R_ ->
     if
#if defined(RENEWOWNER)
     :: ho == o ->
#elif defined(REVOKERENEW)
     :: ho == o && hf == sf[k] ->
#else
     :: ho == o && hf == sf[k] && !REVOKED_ ->
#endif
        r = OK_;
#ifdef MAXHOLD
        hl = sq[k]
#else
        hl = LEASE
#endif
#ifdef RECREATE
     :: ho == 0 -> ho = o; hf = sf[k]; hl = LEASE; r = OK_
#endif
     :: else -> if :: ho == o && REVOKED_ && VALID(o) -> MARK(REVOKED) :: else fi
     fi;
     if :: sb[k] == R_ -> r = (r == OK_ -> RN_ : GN_) :: else fi
  :: sb[k] == L_ ->
     r = OK_;
     if
#ifdef RELANY
     :: ho != 0 -> vacate()
#else
     :: ho == o && hf == sf[k] -> vacate()
#endif
     :: else
     fi
  :: sb[k] == W_ ->
     r = OK_; dirt[o] = false; unline(o);
#ifndef WDNOREL
     if :: ho == o -> MARK(WDGRANT); vacate() :: else fi
#endif
  fi;
  if :: sb[k] != T_ && ho == 0 -> handover() :: else fi;
  if                             /* the answer; of late answers only a try_grant's and a renewal's are looked at */
  :: cs[o] != DEAD && (sb[k] == T_ || (sb[k] == R_ && cs[o] == HELD) || (fl[o] && k == S(o,0))) ->
     ss[k] = REP; sb[k] = r; sf[k] = f
  :: else -> freeslot(k)
  fi;
  f = 0; r = 0; h = 0
}

#define RUN(o,k) :: d_step { ctr < GRANTS * (1 + SPARE) && ss[k] == REQ -> exec(o, k) }
proctype Store() {
  byte x, y, z, h, f, r;
  do
  RUN(1,2)
  RUN(1,3)
  RUN(2,4)
  RUN(2,5)
#if N > 2
  RUN(3,6)
  RUN(3,7)
#endif
#if N > 3
  RUN(4,8)
  RUN(4,9)
#endif
#if REVOKES > 0
  :: d_step { ctr < GRANTS * (1 + SPARE) && revokes > 0 && ho != 0 && !rv ->
#ifdef REVOKENOW
       vacate(); handover();
#else
       rv = true;
#endif
       revokes-- }
#endif
  od
}

/* ======================================== a claim ================================================================== */
inline alone() {                 /* nobody else is valid */
  x = 1;
  do
  :: x <= N -> PROP(S1, x == o || !VALID(x)); x++
  :: else -> break
  od; x = 0
}
inline returned(f_) {            /* a Hold with fence f_ goes to a caller */
  PROP(S2, f_ > maxret);
#ifdef STALL
  PROP(S2p, !(seen & (1 << (f_)))); seen = seen | (1 << (f_));
#endif
  if :: f_ > maxret -> maxret = f_ :: else fi
}
inline hold(f_, v_) {
  alone(); returned(f_);
  cs[o] = HELD; fn[o] = f_; vl[o] = v_; wk[o] = 0; sub[o] = false; en[o] = false; mo[o] = false;
#ifdef MAXHOLD
  mh[o] = MAXHOLD; sh[o] = false;
#endif
#ifdef TRYCOUNT
  ag[o] = 0;
#endif
#ifdef LIVE
  idle = 0; sl[o] = 0;
#endif
}
inline over(s_) {                /* the claim has ended */
  cs[o] = s_; fn[o] = 0; vl[o] = 0; wk[o] = 0; sub[o] = false; en[o] = false; mo[o] = false; gf[o] = 0; nact--;
#if SPARE > 0
  ha[o] = 0;
#endif
#ifdef MAXHOLD
  mh[o] = 0; sh[o] = false;
#endif
#ifdef TRYCOUNT
  ag[o] = 0;
#endif
#ifdef LIVE
  sl[o] = 0;
#endif
}
inline shelve() {                /* slot 0 -> slot 1 */
  ss[S(o,1)] = ss[S(o,0)]; sb[S(o,1)] = sb[S(o,0)]; sf[S(o,1)] = sf[S(o,0)]; sa[S(o,1)] = sa[S(o,0)];
#ifdef MAXHOLD
  sq[S(o,1)] = sq[S(o,0)];
#endif
  freeslot(S(o,0))
}
inline letgo() {                 /* what is in flight becomes abandoned; its age matters only if it is a renewal */
  if
  :: fl[o] -> fl[o] = false;
     if :: cs[o] != HELD -> sa[S(o,0)] = 0 :: else fi;
     if
     :: ss[S(o,0)] == REP && cs[o] != TRY && cs[o] != HELD -> freeslot(S(o,0))
     :: else -> if :: ss[S(o,1)] == 0 -> shelve() :: else fi
     fi
  :: else
  fi
}
inline unhold() {                /* HELD ends: nobody will look at a renewal's answer any more */
  letgo();
  if :: ss[S(o,0)] == REP && sb[S(o,0)] >= RN_ -> freeslot(S(o,0)) :: else -> sa[S(o,0)] = 0 fi;
  if :: ss[S(o,1)] == REP && sb[S(o,1)] >= RN_ -> freeslot(S(o,1)) :: else -> sa[S(o,1)] = 0 fi;
#ifdef MAXHOLD
  mh[o] = 0; sh[o] = false;
#endif
  cs[o] = RELS
}
inline start(v_, f_) {           /* a verb leaves; needs a free slot */
  if :: ss[S(o,0)] != 0 -> shelve() :: else fi;
  fl[o] = true; ss[S(o,0)] = REQ; sb[S(o,0)] = v_; sf[S(o,0)] = f_;
#ifdef MAXHOLD
  if
  :: v_ == R_ -> sq[S(o,0)] = ASK(o);
     if :: ASK(o) < LEASE -> sh[o] = true :: else fi;
     if :: ASK(o) < vl[o] -> vl[o] = ASK(o) :: else fi           /* in case the store sees this one last */
  :: v_ == C_ -> sq[S(o,0)] = LEASE
  :: else
  fi;
#endif
#ifdef STALL
  sm[S(o,0)] = maxret;
#endif
}
#define WANTS (!fl[o] && FREE(o) && (cs[o] == TRY || cs[o] == CONFM || cs[o] == RELS || cs[o] == WDR))
inline send() {                  /* the verb that the state wants, if there is a slot */
  if
  :: WANTS ->
     if
     :: cs[o] == TRY   -> start(T_, 0)
     :: cs[o] == CONFM -> start(C_, fn[o])
     :: cs[o] == RELS  -> start(L_, fn[o])
     :: cs[o] == WDR   -> start(W_, 0)
     fi
  :: else
  fi
}
inline leave() { cs[o] = WDR; fn[o] = 0; wk[o] = 0; en[o] = false; mo[o] = false }
inline again() {                 /* no Hold came of it: withdraw if the wait has ended, else try (again) */
  if :: en[o] -> leave() :: else -> cs[o] = TRY; fn[o] = 0 fi
}
inline lengthen(k_) {            /* a renewal's answer: counts from its sending, and only before the old deadline */
#if defined(ANSWERCOUNT)
  v = LEASE;
#elif defined(MAXHOLD)
  v = (sq[k_] > sa[k_] -> sq[k_] - sa[k_] : 0);
#else
  v = LEASE - sa[k_];
#endif
  if
  :: sb[k_] == RN_ && VALID(o) && v > vl[o] -> vl[o] = v
  :: sb[k_] == GN_ -> vl[o] = 0
  :: else
  fi; v = 0
}

proctype Claim(byte o) {
  byte x, k, f, v; bool ok;
  do
  :: d_step { cs[o] == NEW && started == o-1 && nact < C ->     /* claims are interchangeable: start in order */
       started++; nact++; cs[o] = TRY; send();
#ifdef NEWOWNER
       if :: heir != 0 -> par[o] = heir; heir = 0 :: else fi
#endif
     }

  /* -- most steps below send their verb at once; here after a rest, or if no slot was free then -- */
  :: d_step { WANTS -> send() }
#ifdef MAXHOLD
  :: d_step { !fl[o] && FREE(o) && VALID(o) -> start(R_, fn[o]) }                  /* may also be a verification */
#else
  :: d_step { !fl[o] && FREE(o) && VALID(o) && vl[o] < LEASE -> start(R_, fn[o]) }
#endif

  /* -- the answer -- */
  :: d_step { fl[o] && ss[S(o,0)] == REP ->
       k = S(o,0); ok = (sb[k] == OK_); f = sf[k]; fl[o] = false;
#ifdef ANSWERCOUNT
       v = LEASE;
#else
       v = LEASE - sa[k];
#endif
#ifdef STALL
       if :: ok && cs[o] == TRY   -> PROP(S2p, f > sm[k])
          :: ok && cs[o] == CONFM -> PROP(S2p, fn[o] > sm[k])
          :: else fi;
#endif
       if
       :: cs[o] == TRY && ok && v > 0 -> if :: en[o] -> MARK(LASTANSWER) :: else fi; hold(f, v)
       :: cs[o] == CONFM && ok && v > 0 -> MARK(CONFIRMED); hold(fn[o], v)
       :: (cs[o] == TRY || cs[o] == CONFM) && ok && v == 0 -> again()     /* too late to be worth anything */
#ifdef ONESHOT
       :: cs[o] == TRY && !ok && o == N && !mo[o] -> over(DONE)
       :: cs[o] == TRY && !ok && o == N && mo[o] -> leave()                         /* the unanswered one may have left something */
       :: cs[o] == TRY && !ok && o != N && en[o] -> leave()
       :: cs[o] == TRY && !ok && o != N && !en[o] ->
#else
       :: cs[o] == TRY && !ok && en[o] -> leave()
       :: cs[o] == TRY && !ok && !en[o] ->
#endif
          if :: sub[o] -> cs[o] = SLEEP :: else -> cs[o] = WATCH fi;
#ifdef TRYCOUNT
          ag[o] = sa[k];
#endif
#ifdef LIVE
          if :: hl == 0 || hl > POLL -> sl[o] = POLL :: else -> sl[o] = hl fi;
#endif
       :: cs[o] == CONFM && !ok -> MARK(OFFERGONE); again()
       :: cs[o] == HELD -> lengthen(k)
       :: cs[o] == RELS -> over(DONE)
       :: cs[o] == WDR && !mo[o] -> over(DONE)
       :: cs[o] == WDR && mo[o] -> MARK(WDMORE); mo[o] = false
       fi;
       freeslot(k); k = 0; f = 0; v = 0; ok = false; send() }

  /* -- no answer by the verb's deadline -- */
  :: d_step { fl[o] && giveups > 0 && !CALM -> giveups--; letgo();
       if
       :: cs[o] == TRY   -> again(); if :: cs[o] == WDR -> send() :: else fi;       /* rest, or withdraw */
#ifdef ONESHOT
          if :: o == N && cs[o] == TRY -> mo[o] = true :: else fi
#endif
       :: cs[o] == CONFM -> again(); if :: cs[o] == TRY -> MARK(RETRIED) :: else fi; send()
       :: cs[o] == RELS || cs[o] == WDR -> send()                                   /* repeat */
       :: cs[o] == HELD                                                             /* will renew again */
       fi;
#ifdef NEWOWNER
       if :: cs[o] == TRY && heir == 0 && started < N -> heir = o; over(DONE) :: else fi
#endif
     }
  :: d_step { fl[o] && giveups > 0 && !CALM && (cs[o] == RELS || cs[o] == WDR) -> giveups--; letgo(); over(DONE) }

  /* -- an abandoned slot: lost for good (or dropped), or its answer comes late -- */
  :: d_step { ss[S(o,0)] != 0 && !fl[o] -> freeslot(S(o,0)) }
  :: d_step { ss[S(o,1)] != 0 -> freeslot(S(o,1)) }
  :: d_step { (cs[o] == DONE || cs[o] == WDR || cs[o] == HELD) && (LATE(o,0) || LATE(o,1)) ->
       if :: LATE(o,0) -> k = S(o,0) :: else -> k = S(o,1) fi;
       if
       :: cs[o] == DONE && sb[k] == OK_ -> MARK(LATEGRANT);  nact++; gf[o] = 0; cs[o] = RELS; fn[o] = sf[k]; freeslot(k)
       :: cs[o] == DONE && sb[k] == NO_ -> MARK(LATEREFUSE); nact++; gf[o] = 0; cs[o] = WDR; freeslot(k)
       :: cs[o] == WDR -> mo[o] = true; freeslot(k)
       :: cs[o] == HELD && RENEWAL(k) -> f = vl[o]; lengthen(k); if :: vl[o] > f -> MARK(LATERENEW) :: else fi; freeslot(k)
#if defined(HANDLATE)
       :: cs[o] == HELD && sb[k] == OK_ && ha[o] > 0  -> ss[k] = REQ; sb[k] = L_
       :: cs[o] == HELD && sb[k] == NO_ && ha[o] > 0  -> ss[k] = REQ; sb[k] = W_
       :: cs[o] == HELD && !RENEWAL(k)  && ha[o] == 0 -> freeslot(k)
#elif !defined(LATEREL) && !defined(LATEWD)
       :: cs[o] == HELD && !RENEWAL(k) -> freeslot(k)
#else
       :: cs[o] == HELD && !RENEWAL(k) -> skip                  /* see below */
#endif
       fi; k = 0; f = 0; send() }
#if defined(LATEREL) || defined(LATEWD)
  :: d_step { cs[o] >= TRY && cs[o] <= HELD && (LATE(o,0) || LATE(o,1)) ->         /* the clean-up is posted and forgotten */
       if :: LATE(o,0) -> k = S(o,0) :: else -> k = S(o,1) fi;
       if
#ifdef LATEREL
       :: sb[k] == OK_ -> ss[k] = REQ; sb[k] = L_
#else
       :: sb[k] == NO_ -> ss[k] = REQ; sb[k] = W_
#endif
       :: else
       fi; k = 0 }
#endif

  /* -- waiting -- */
  :: d_step { cs[o] == WATCH -> sub[o] = true;
#ifdef NORETRY
       cs[o] = SLEEP;
#else
       cs[o] = TRY;                                             /* closes the race between refusal and subscription */
#endif
       send() }
#ifdef LIVE
  :: d_step { cs[o] == SLEEP && (!calm || sl[o] == 0) -> cs[o] = TRY; sl[o] = 0; send() }
#else
  :: d_step { cs[o] == SLEEP -> cs[o] = TRY; send() }
#endif
  :: d_step { wk[o] != 0 && (cs[o] == SLEEP || (cs[o] == TRY && !fl[o])) ->
       if :: cs[o] == TRY -> MARK(RESTWAKE) :: else fi;
       f = wk[o];
       if :: CALM -> wk[o] = 0 :: else fi;                      /* it may come again, until it is lost below */
#if defined(WAKECOUNT)
       hold(f, WAKECOUNT);
#elif defined(TRYCOUNT)
       if
       :: cs[o] == SLEEP && ag[o] < TRYCOUNT -> v = TRYCOUNT - ag[o]; hold(f, v); v = 0
       :: else -> cs[o] = CONFM; fn[o] = f
       fi;
#else
       cs[o] = CONFM; fn[o] = f;
#endif
       f = 0; send() }
  :: d_step { wk[o] != 0 && (!CALM || cs[o] > SLEEP) -> wk[o] = 0 }       /* lost, or of no use any more */
#ifdef WDHOLD
  :: d_step { wk[o] != 0 && cs[o] == WDR && fl[o] && FREE(o) -> letgo(); cs[o] = CONFM; fn[o] = wk[o]; wk[o] = 0; send() }
#endif

  /* -- the wait ends -- */
  :: d_step { ends > 0 && !fl[o] && WAITING(o) -> ends--; leave(); send() }
  :: d_step { ends > 0 && fl[o] && !en[o] && (cs[o] == TRY || cs[o] == CONFM) -> ends--; en[o] = true;
#ifdef ENDHOLD
       if :: ss[S(o,1)] == 0 -> ss[S(o,1)] = REQ; sb[S(o,1)] = W_ :: else fi
#endif
     }

  /* -- holding -- */
#if SPARE > 0
#ifdef HANDBEYOND
#define MAYHAND (ha[o] <= SPARE)
#elif defined(MAXHOLD) && !defined(HANDSHORT)
#define MAYHAND (ha[o] < SPARE && !sh[o])
#else
#define MAYHAND (ha[o] < SPARE)
#endif
#ifdef HANDRELEASED
  :: d_step { cs[o] == RELS && fl[o] && vl[o] > 0 && MAYHAND -> letgo(); cs[o] = HELD;
#else
  :: d_step { VALID(o) && MAYHAND ->
#endif
       MARK(HANDOFF); alone(); ha[o]++; f = fn[o] + ha[o]; returned(f); f = 0;
#ifdef HANDRESTART
       vl[o] = LEASE;
#endif
#ifdef MAXHOLD
       mh[o] = 0;
#endif
     }
#endif
#ifdef HANDRELEASED
  :: d_step { VALID(o) -> unhold(); send() }
#else
  :: d_step { VALID(o) -> unhold(); vl[o] = 0; send() }                            /* the last caller releases */
#endif
  :: d_step { cs[o] == HELD && !VALID(o) -> unhold(); vl[o] = 0; send() }          /* lost: told so; release all the same */

  /* -- crash -- */
#ifdef CRASHW
  :: d_step { crashes > 0 && !CALM && cs[o] == SLEEP && ss[S(o,0)] == 0 && ss[S(o,1)] == 0 -> crashes--; over(DEAD) }
#else
  :: d_step { crashes > 0 && !CALM && cs[o] >= TRY && cs[o] <= WDR -> crashes--;
       if :: ss[S(o,0)] == REP -> freeslot(S(o,0)) :: else -> sa[S(o,0)] = 0 fi;
       if :: ss[S(o,1)] == REP -> freeslot(S(o,1)) :: else -> sa[S(o,1)] = 0 fi;
       fl[o] = false; over(DEAD) }
#endif
  od
}

/* ======================================== time ===================================================================== */
/* live runs, after the faults: nothing that could move is left before a tick */
#define SETTLED(o) (ss[S(o,0)] == 0 && ss[S(o,1)] == 0 && wk[o] == 0 && \
  (cs[o] == NEW || cs[o] >= DONE || (cs[o] == SLEEP && sl[o] > 0) || (cs[o] == HELD && vl[o] > 1)))
#if N == 2
#define ALLSETTLED (SETTLED(1) && SETTLED(2))
#elif N == 3
#define ALLSETTLED (SETTLED(1) && SETTLED(2) && SETTLED(3))
#else
#define ALLSETTLED (SETTLED(1) && SETTLED(2) && SETTLED(3) && SETTLED(4))
#endif
#define AGES(o,i) (cs[o] == HELD -> RENEWAL(S(o,i)) : (i == 0 && fl[o] && (cs[o] == TRY || cs[o] == CONFM)))
proctype Clock() {
  byte o, x, y; bool w, hd, inl;
  do
#ifdef LIVE
  :: d_step { !calm -> calm = true; giveups = 0; crashes = 0; ends = 0;
#if REVOKES > 0
       revokes = 0
#endif
     }
  :: d_step { !calm || ALLSETTLED ->
#else
  :: d_step { true ->
#endif
       /* the store's clock: leases and line deadlines */
       if :: hl > 0 -> hl--; if :: hl == 0 -> vacate() :: else fi :: else fi;
#if REVOKES > 0
       if :: rv -> rvt++; PROP(S5, rvt < LEASE); if :: rvt >= LEASE -> rvt = 0 :: else fi :: else fi;
#endif
       o = 1;
       do
       :: o <= N ->
          if :: ll[o] > 0 -> ll[o]--;
#ifndef NOSKIP
                if :: ll[o] == 0 -> unline(o) :: else fi        /* a head past its deadline is skipped: as good as gone */
#endif
             :: else fi;
#ifndef STALL
          /* the clients' clocks */
          if :: vl[o] > 0 -> vl[o]-- :: else fi;
          if :: AGES(o,0) && sa[S(o,0)] < LEASE -> sa[S(o,0)]++ :: else fi;
          if :: AGES(o,1) && sa[S(o,1)] < LEASE -> sa[S(o,1)]++ :: else fi;
#ifdef MAXHOLD
          if :: mh[o] > 0 -> mh[o]-- :: else fi;
#endif
#ifdef TRYCOUNT
          if :: cs[o] == SLEEP && ag[o] < LEASE -> ag[o]++ :: else fi;
#endif
#endif
#ifdef LIVE
          if :: calm && sl[o] > 0 -> sl[o]-- :: else fi;
          if :: WAITING(o) -> w = true :: else fi;
          if :: VALID(o) -> hd = true :: else fi;
#endif
          /* ghosts */
          x = 0; inl = (ho == o);
          do :: x < nl -> if :: ln[x] == o -> inl = true :: else fi; x++ :: else -> break od; x = 0;
          if :: cs[o] >= DONE && inl && ss[S(o,0)] != REQ && ss[S(o,1)] != REQ -> gf[o]++
             :: else -> gf[o] = 0 fi;
          PROP(S3, gf[o] < LEASE);
          if :: gf[o] >= LEASE -> gf[o] = 0 :: else fi;
          PROP(S3p, !(cs[o] == DONE && inl && !dirt[o]));
          if :: cs[o] >= DONE && !inl && ss[S(o,0)] != REQ && ss[S(o,1)] != REQ -> dirt[o] = false :: else fi;
          inl = false; o++
       :: else -> break
       od;
#ifdef LIVE
       if :: calm && w && !hd -> idle++; PROP(L1, idle <= IDLE) :: else -> idle = 0 fi;
       w = false; hd = false;
#endif
       o = 0 }
  od
}

init { byte i;
  atomic {
#ifdef CALM0
    calm = true; giveups = 0; crashes = 0; ends = 0;
#endif
    run Store(); run Clock();
    for (i : 1 .. N) { run Claim(i) }
    i = 0
  }
}
