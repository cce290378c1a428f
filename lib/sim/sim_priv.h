/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_PRIV_H
#define RL_SIM_PRIV_H

/**
 * @file
 * The inside of a simulation, private to sim*.c:
 *
 *   sim.c         build, destroy, the event loop
 *   sim_part.c    which devices belong to one part, for one thread
 *   sim_role.c    roles that are polled one by one
 *   sim_heap.c    which role is polled next
 *   sim_mem.c     flits, frames, and memory of fabrics
 *   sim_pipe.c    pipes between roles
 *   sim_packet.c  packets that pass through them
 *   sim_wire.c    wires as the ports see them, and their noise
 *   sim_fault.c   faults as they happen
 *   sim_list.c    lists of faults
 *   sim_audit.c   invariants
 *   sim_event.c   failovers, drops, notices
 *   sim_crash.c   devices that crash and restart
 *   sim_reach.c   which endpoints are connected, and since when
 *   sim_ctl.c     the host of the controller, and its channel
 *   sim_act.c     carries out orders of local controllers
 *   sim_turn.c    devices that are polled as a whole
 *   sim_apart.c   how long devices may run independently
 *   sim_told.c    their events in the meantime
 *   sim_gang.c    threads that run them
 *   sim_doze.c    links at rest
 */

#include "rl_prng.h"
#include "rl_sim.h"
#include "rl_wire.h"

/* Flits that one poll may take: twice 32 frames of 32 flits. */
#define SIM_FLITS_LOW 2048
#define SIM_PORT_CORE (-1)
/*
 * Prefetched of a frame: its header and first flits; hardware fetches the rest.
 */
#define SIM_WARM_BYTES (6 * RL_CACHE_LINE)
/* Delay until a port notices credits that its core freed. */
#define SIM_CREDIT_NS 100
/* A role that is due but cannot do anything is polled again after this time. */
#define SIM_SPIN_PORT_NS 50
#define SIM_SPIN_CORE_NS 1000

/*
 * Descriptors of frames are apart from their bytes: lists and times of frames
 * are accessed far more often, and stay in a near cache.
 */
struct rl_sim_frame {
	struct rl_sim_frame *next;
	uint64_t at_ns; /* arrival of its last bit */
	uint8_t *data;
	uint32_t len;
	uint16_t size; /* free list that it belongs to */
	uint16_t home; /* part that it belongs to */
};

/* A fault that waits for a frame. */
struct sim_trigger {
	struct sim_trigger *next;
	struct rl_fault fault;
	uint32_t left; /* frames or flits left until it acts */
};

#define SIM_DARK_FAULT 1
#define SIM_DARK_CRASH 2 /* a device at an end is dead */

/* One direction of a wire. */
struct sim_dir {
	struct rl_sim_frame *head; /* on the wire, in order of arrival */
	struct rl_sim_frame *tail;
	uint64_t free_ps;	   /* when the transmitter becomes idle */
	uint32_t rx_role;
	bool crosses; /* its ends are in two parts: frames wait in `out` */
	bool odd; /* any of the following: takes the slow path */
	bool tapped; /* its frames are shown to the tap */
	uint8_t dark; /* SIM_DARK_*: why it is dark; 0: it is not */
	struct sim_trigger *trigger;
	struct rl_sim_frame *late; /* frames held until the heal */
	uint32_t link;
	struct rl_sim_frame *out; /* in the order sent, for sim_apart.c */
	struct rl_sim_frame *last_out;
	struct sim_dir *next_out;
	struct rl_wire_faults wire;
};

/* The PHY of a port. */
struct sim_end {
	struct sim_part *part;
	struct sim_dir *tx;
	struct sim_dir *rx;
	bool phy_up;
	bool blocked; /* the wire was full at the last attempt */
	bool enough;  /* it got frames for all that it will send */
	bool dozes;   /* and so does the other end, unless: */
	bool calls;   /* it trains without a peer */
	uint32_t role;
	uint64_t sent; /* flits, when credits were last checked */
	uint64_t got;
};

struct sim_pipe_slot {
	void *obj;
	uint64_t seen_ns; /* visible to its consumer from then on */
};

struct sim_pipe {
	struct sim_part *part;
	struct sim_pipe_slot *slot;
	uint32_t mask;
	uint32_t head;
	uint32_t tail;
	uint32_t limit; /* capacity that the fabric requested */
	uint32_t consumer;
	uint32_t producer;
	uint32_t port;	   /* its bit in `pending` */
	uint64_t *pending; /* pipes of its core that are not empty */
	const struct rl_core *core; /* core that receives packets from the
				       wire */
};

/* Pending work of a device, one bit for each port number modulo 64. */
struct sim_pending {
	uint64_t rx; /* non-empty pipes to the core */
	uint64_t loop;
	uint64_t due; /* with turns: ports that are due */
};

#define SIM_NO_DEV UINT32_MAX

struct sim_role {
	uint64_t ext_ns; /* poll requested by others; RL_NEVER: none */
	int32_t port;	 /* SIM_PORT_CORE: the core */
	uint32_t dev;
	bool again; /* a burst was full, so there may be more */
	uint8_t part; /* of its device */
	uint16_t nports; /* of its device, whose roles follow the core's */
	struct rl_role_port *rp;
	struct rl_role_core *rc; /* of a port: its core */
	struct sim_end *end;	 /* of a port */
	const void *state; /* its struct rl_port or rl_core */
	const struct sim_dir *rx; /* of a port: the wire to it */
};

_Static_assert(sizeof(struct sim_role) == RL_CACHE_LINE, "one look a role");

struct sim_heap_slot {
	uint64_t key_ns;
	uint32_t role;
};

/* A drop that its source must learn of. */
struct sim_notice {
	uint64_t at_ns;
	struct rl_ep_notice say;
};

#define SIM_NO_PART 0xffffu

/* Partition of the endpoints, and its time. */
struct sim_reach_at {
	uint64_t t_ns;
	uint16_t *part; /* [nep] */
};

struct sim_reach {
	struct sim_reach_at *at;
	uint32_t n;
	uint32_t cap;
	uint32_t *root; /* [ndev], scratch space */
	bool stale;	/* something has changed since */
};

/* Events of roles for their host. */
enum sim_told_kind {
	SIM_TOLD_PORT,
	SIM_TOLD_CORE,
	SIM_TOLD_EP,
	SIM_TOLD_REPORT,
	SIM_TOLD_NOTICE,
};

struct sim_told {
	uint64_t t_ns;
	uint32_t dev;
	uint32_t nr; /* at equal times and devices, the lower one is first */
	uint16_t port;
	enum sim_told_kind kind;
	union {
		struct rl_port_event port_event;
		struct rl_core_event core_event;
		struct rl_ep_event ep_event;
		struct rl_ep_report report;
		struct sim_notice notice;
	};
};

/*
 * Some of the devices, and all that they use while they run independently. One
 * thread runs a part and accesses no other. Frames to another part wait until
 * all have run (sim_apart.c). Flits never cross: what crosses a wire is a copy.
 */
struct sim_part {
	struct rl_sim *sim;
	struct rl_sim_mem *mem;
	uint64_t now_ns; /* of the running device; else rl_sim.now_ns */
	uint32_t index;
	uint32_t running; /* device that has its turn, or SIM_NO_DEV */
	struct sim_heap_slot *heap; /* of roles or, with turns, of cores of
				       devices */
	uint32_t *due; /* room for all of these and one more */
	uint32_t nheap;
	uint32_t ntold;
	struct sim_told *told; /* stored if calls must be in order */
	uint32_t cap_told;
	struct sim_dir *out;	   /* wires with frames for other parts */
	struct rl_sim_frame *back; /* free frames that belong to other parts */
	struct rl_sim_stats st;
} RL_ALIGNED(2 * RL_CACHE_LINE);

struct sim_gang;

struct sim_auth;

struct rl_sim {
	struct rl_sim_params p;
	struct rl_sim_mem *mem; /* the caller's; also that of part 0 */
	struct rl_fabric fabric;
	uint64_t now_ns;

	struct sim_part *part; /* [nparts] */
	uint32_t nparts;
	struct sim_gang *gang; /* NULL: one thread runs all of them */
	uint32_t *due;	       /* room for the cores of all devices */
	bool by_number;	       /* a device now acts on another beyond wires, so
				  turns are in the order of numbers */

	struct sim_role *role;
	uint32_t nrole;
	uint32_t *dev_role; /* [ndev]: of the core; its ports follow */

	uint64_t *key; /* [nrole], with turns: when each is due; else NULL */
	struct sim_auth *auth; /* [2 * nlink], or NULL: no keys */
	uint32_t *heap_pos; /* [nrole]: 1 + index in its part's heap; 0: none */
	uint32_t *ready; /* ring of nready_mask + 1 roles */
	bool *is_ready;	 /* [nrole]: is due: in that ring or, with turns, its
			    device is in the heap */
	uint32_t ready_mask;
	uint32_t ready_head;
	uint32_t ready_tail;

	struct sim_end *end;  /* [2 * nlink], by link and end */
	struct sim_dir *dir;  /* [2 * nlink], 2l: from end 0 */
	struct sim_pipe *pipe; /* [3 * ports] */
	uint32_t npipe;
	struct sim_pending *pending; /* [ndev] */
	uint64_t frame_ps;   /* time of a full frame on the wire */
	uint64_t backlog_ps; /* time of all frames that may wait to be sent */

	struct rl_sim_faults todo;
	uint32_t next_fault;
	uint64_t *fault_ns; /* [nlink]: time of the last fault */

	struct sim_notice *notice; /* ring, notice_mask + 1 */
	uint32_t notice_mask;
	uint32_t notice_head;
	uint32_t notice_tail;

	struct rl_failover_log failovers;

	bool *dead; /* [ndev]: crashed */
	bool *down; /* [nlink]: by command, or removed */
	bool *degraded; /* [nlink]: a controller may have taken it out of use
			   [RES-7] */
	uint32_t crashes;
	uint32_t triggers; /* faults that wait for a frame */
	bool calm;	   /* no port can change its state by itself, until: */
	uint64_t calm_ns;  /* time of the next check */
	struct sim_ctl *ctl; /* NULL: there is no controller */
	struct sim_reach reach;

	bool soft;	     /* some direction has soft errors */
	uint64_t flits_peak;
	char broken[160];    /* description of an invalid packet, or "" */

	struct rl_prng prng; /* of jitter */
};

static inline struct sim_part *
sim_part_of(const struct rl_sim *s, uint32_t role)
{
	return &s->part[s->role[role].part];
}

static inline struct sim_part *
sim_dev_part(const struct rl_sim *s, uint32_t dev)
{
	return sim_part_of(s, s->dev_role[dev]);
}

/* sim_heap.c */
/** @return the tick for something due at @p t_ns */
uint64_t sim_on_tick(const struct rl_sim *s, uint64_t t_ns);
void sim_heap_set(struct rl_sim *s, uint32_t role, uint64_t key_ns);
void sim_heap_earlier(struct rl_sim *s, uint32_t role, uint64_t key_ns);
/** The heap itself: ignores ticks and present entries. */
void sim_heap_put(struct sim_part *pt, uint32_t role, uint64_t key_ns);
/** Writes cores due before @p end_ns to pt->due. @return how many */
uint32_t sim_heap_due(struct sim_part *pt, uint64_t end_ns);
uint64_t sim_heap_key(const struct sim_part *pt, uint32_t role);
void sim_ready(struct rl_sim *s, uint32_t role);
/** @return when a role sees what it gets now: after the poll delay */
uint64_t sim_seen(const struct sim_part *pt);
void sim_wake_at(struct rl_sim *s, uint32_t role, uint64_t at_ns);

/* sim_part.c */
/** Makes one part for each thread. @return 0 or -ENOMEM */
int sim_part_open(struct rl_sim *s);
/** @return the next event record of a part; NULL: no memory */
struct sim_told *sim_told_add(struct sim_part *pt, enum sim_told_kind kind,
			      uint32_t dev, uint64_t t_ns);

/* sim_role.c */
/** A role is about to be polled: clears its requests. */
void sim_role_begin(struct sim_part *pt, struct sim_role *r);
/** Polls all ready roles, and those that they make ready. */
void sim_role_ready(struct rl_sim *s);
/** Makes roles ready whose time has come. */
void sim_role_wake(struct rl_sim *s);

/** Advances the time of all parts to @p t_ns. */
static inline void
sim_time(struct rl_sim *s, uint64_t t_ns)
{
	s->now_ns = t_ns;
	for (uint32_t i = 0; i < s->nparts; i++)
		s->part[i].now_ns = t_ns;
}

/* sim_turn.c */
/** Runs the devices of a part until @p end_ns. */
void sim_turn_run(struct sim_part *pt, uint64_t end_ns);
/**
 * Runs the devices of all parts in the order of their numbers
 * (rl_sim.by_number).
 */
void sim_turn_run_by_number(struct rl_sim *s, uint64_t end_ns);

/* sim_apart.c */
/** Runs the turns due now and, within a window, those that follow; @p next_ns:
    time of the next fault, controller action or notice. */
void sim_apart_run(struct rl_sim *s, uint64_t until_ns, uint64_t next_ns);

/** After this event a port may change its state by itself. */
static inline void
sim_apart_disturb(struct rl_sim *s)
{
	s->calm = false;
	s->calm_ns = s->now_ns + 1; /* once all have seen it */
}

/* sim_gang.c */
/** Starts threads for all parts but the first. @return NULL on failure */
struct sim_gang *sim_gang_new(struct rl_sim *s);
void sim_gang_free(struct sim_gang *g);
/** sim_turn_run() of all parts, with the first in the caller. */
void sim_gang_run(struct sim_gang *g, uint64_t end_ns);

/* sim_told.c */
/** Passes the events of all parts to the host, in order of time. */
void sim_told_flush(struct rl_sim *s);

/* sim_doze.c */
/** After a poll of a port. @return whether its link now rests */
bool sim_doze(struct rl_sim *s, uint32_t role);
/** Before a poll of a port whose link rests: wakes both ends. */
void sim_doze_end(struct rl_sim *s, struct sim_role *r);
/** Before a change to the wire of this direction. */
void sim_doze_disturb(struct rl_sim *s, unsigned int dir);

/* sim_mem.c */
int sim_flits_grow(struct rl_sim_mem *mem, struct rl_flit_cache *c);
static inline uint32_t
sim_flits_free(const struct rl_sim_mem *mem)
{
	return mem->cache.count + mem->keep.count;
}
/** @return flits in use in the fabric */
uint64_t sim_flits_used(const struct rl_sim *s);

/** Before a poll. Without memory, flits run out as on lcores. */
static inline void
sim_flits_stock(struct rl_sim_mem *mem)
{
	if (rl_unlikely(mem->cache.count < SIM_FLITS_LOW))
		sim_flits_grow(mem, &mem->cache);
	if (rl_unlikely(mem->keep.count < SIM_FLITS_LOW))
		sim_flits_grow(mem, &mem->keep);
}

/** @return a codec of an earlier run, or a new one; NULL on failure */
struct rl_codec *sim_codec(struct rl_sim_mem *mem, enum rl_crc_kind crc,
			   enum rl_isn_kind isn, enum rl_isa isa);
void *sim_alloc(struct rl_sim_mem *mem, size_t bytes);

/** @return 0 or -ENOMEM; does nothing without keys */
int sim_auth_open(struct rl_sim *s);
/** The check of an end of a link, for struct rl_fabric_host. */
const struct rl_link_auth *sim_auth(void *ctx, uint32_t link, unsigned int end);
void sim_mem_reset(struct rl_sim_mem *mem);
/** @return memory for part @p i of a run; NULL: no memory */
struct rl_sim_mem *sim_mem_part(struct rl_sim_mem *mem, uint32_t i);
int sim_frame_size(struct rl_sim_mem *mem, uint32_t frame_bytes);
int sim_frames_grow(struct rl_sim_mem *mem, uint32_t size);
/** @return 0; -EUCLEAN if a free flit is listed twice */
int sim_flits_unique(struct rl_sim_mem *mem);

/* Bytes of a frame of size class @p size. */
static inline uint32_t
sim_frame_room(const struct rl_sim_mem *mem, uint32_t size)
{
	return size == 0 ? mem->frame_bytes
			 : rl_min_u32(mem->frame_bytes,
				      rl_frame_bytes(RL_FRAME_FLITS_MAX >>
						     size));
}

/* Allocates a frame for at most @p bytes. */
static inline struct rl_sim_frame *
sim_frame_get(struct rl_sim_mem *mem, uint32_t bytes)
{
	uint32_t size = RL_SIM_FRAME_SIZES - 1;
	struct rl_sim_frame *f;

	while (size != 0 && sim_frame_room(mem, size) < bytes)
		size--;
	if (rl_unlikely(mem->frame[size] == NULL) &&
	    sim_frames_grow(mem, size) != 0)
		return NULL;
	f = mem->frame[size];
	mem->frame[size] = f->next;
	mem->frames_free--;
	return f;
}

static inline void
sim_frame_put(struct rl_sim_mem *mem, struct rl_sim_frame *f)
{
	f->next = mem->frame[f->size];
	mem->frame[f->size] = f;
	mem->frames_free++;
}

/* Frees a frame of any part, while none runs. */
static inline void
sim_frame_free(struct rl_sim *s, struct rl_sim_frame *f)
{
	sim_frame_put(s->part[f->home].mem, f);
}

/* Frees a frame within a running part. */
static inline void
sim_frame_done(struct sim_part *pt, struct rl_sim_frame *f)
{
	if (rl_likely(f->home == pt->index)) {
		sim_frame_put(pt->mem, f);
		return;
	}
	f->next = pt->back;
	pt->back = f;
}

/* sim_packet.c */
void sim_packet_check(struct rl_sim *s, const struct sim_pipe *sp,
		      const struct rl_flit *pkt);

/* sim_pipe.c */
void sim_pipe_make(struct sim_part *pt, struct sim_pipe *sp, uint32_t limit,
		   struct rl_pipe *pipe);
/** Its flits return to the cache. */
void sim_pipe_flush(struct sim_pipe *sp);

/* sim_dir.c */
void sim_dir_insert(struct rl_sim *s, struct sim_dir *d,
		    struct rl_sim_frame *f);
void sim_dir_update(struct sim_dir *d);
/** Tells the listener of a frame; d->tapped. */
void sim_dir_show(const struct sim_part *pt, const struct sim_dir *d,
		  const struct rl_sim_frame *f, enum rl_sim_fate fate);
void sim_dir_darken(struct rl_sim *s, unsigned int dir, uint8_t why,
		    enum rl_fault_flight how, bool silent);
void sim_dir_lighten(struct rl_sim *s, unsigned int dir, uint8_t why);

/* sim_wire.c */
extern const struct rl_phy_ops sim_wire_ops;
extern const struct rl_phy_ops sim_wire_tapped;
uint64_t sim_frame_ps(const struct rl_sim *s, uint32_t len);

/* sim_fault.c */
void sim_fault_apply(struct rl_sim *s, const struct rl_fault *f);
/** A fault's frame is being sent in direction @p dir: executes the fault. */
void sim_fault_fire(struct rl_sim *s, const struct rl_fault *f,
		    unsigned int dir);

/* sim_crash.c */
void sim_dev_crash(struct rl_sim *s, uint32_t dev);
void sim_dev_restart(struct rl_sim *s, uint32_t dev);
bool sim_link_crashed(const struct rl_sim *s, uint32_t link);

/* sim_reach.c */
/** @return whether a link can carry traffic */
bool sim_link_whole(const struct rl_sim *s, uint32_t link);
int sim_reach_open(struct rl_sim *s);
void sim_reach_close(struct rl_sim *s);
/** Records the partition if links or devices changed (@p stale). */
void sim_reach_look(struct rl_sim *s);

/* sim_ctl.c */
int sim_ctl_open(struct rl_sim *s);
void sim_ctl_close(struct rl_sim *s);
void sim_ctl_run(struct rl_sim *s);
uint64_t sim_ctl_due(const struct rl_sim *s);
void sim_ctl_port_event(struct rl_sim *s, uint32_t dev, uint16_t port,
			const struct rl_port_event *ev);
void sim_ctl_core_event(struct rl_sim *s, uint32_t dev,
			const struct rl_core_event *ev);
/** Sets or ends the delay of a device or of the controller. */
void sim_ctl_late(struct rl_sim *s, const struct rl_fault *f);
/**
 * @return whether a port may stay down because its device is left out in this
 *   mode
 */
bool sim_ctl_left_out(const struct rl_sim *s, uint32_t dev, uint16_t port);
void sim_ctl_dev_crash(struct rl_sim *s, uint32_t dev);
/** @return whether a controller will start its ports */
bool sim_ctl_dev_restart(struct rl_sim *s, uint32_t dev);
void sim_ctl_crash(struct rl_sim *s);
void sim_ctl_restart(struct rl_sim *s);
/** All faults end: restarts a dead controller, and drops its old orders. */
void sim_ctl_heal(struct rl_sim *s);
/** A planned change. @return false: there is no controller to do it */
bool sim_ctl_planned(struct rl_sim *s, const struct rl_fault *f);

/* sim_audit.c */
/**
 * After a poll of a port: checks that what it sent and reserved fits its
 * credits; the same for its peer, if the port received frames.
 */
void sim_credit_check(struct rl_sim *s, struct sim_role *r);

/* sim_event.c */
void sim_on_port_event(void *ctx, uint32_t dev, uint16_t port,
		       const struct rl_port_event *ev);
void sim_on_core_event(void *ctx, uint32_t dev,
		       const struct rl_core_event *ev);
void sim_on_ep_event(void *ctx, uint32_t dev, const struct rl_ep_event *ev);
/* The context of these is the part of the device. */
void sim_on_drop(void *ctx, const struct rl_flit *pkt, enum rl_drop_reason why,
		 uint64_t now_ns);
void sim_on_report(void *ctx, const struct rl_ep_report *report,
		   uint64_t now_ns);
/* Handle events, in order. */
void sim_hear_port(struct rl_sim *s, uint32_t dev, uint16_t port,
		   const struct rl_port_event *ev);
void sim_hear_core(struct rl_sim *s, uint32_t dev,
		   const struct rl_core_event *ev);
void sim_hear_notice(struct rl_sim *s, const struct sim_notice *n);
uint64_t sim_notice_due(const struct rl_sim *s);
void sim_notice_deliver(struct rl_sim *s);

#endif /* RL_SIM_PRIV_H */
