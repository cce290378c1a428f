/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "rl_driver.h"
#include "rl_listen.h"
#include "rl_refuse.h"

#define PATH_BYTES sizeof(((struct sockaddr_un *)0)->sun_path)

static bool
says(const char *vdev, const char *key, const char *value)
{
	char got[16];

	return rl_devarg(vdev, key, got, sizeof(got)) &&
	       strcmp(got, value) == 0;
}

/* The socket of a port; type 0: none. An abstract name begins with '@'. */
struct place {
	int type;
	bool serves;
	char path[PATH_BYTES];
};

static struct place
place_of(const char *vdev)
{
	struct place p = { .type = SOCK_STREAM };
	bool there = false;

	if (rl_driver_is(vdev, "net_memif")) {
		const bool is_file = says(vdev, "socket-abstract", "no");

		p.type = SOCK_SEQPACKET;
		p.serves = says(vdev, "role", "server");
		p.path[0] = '@';
		there = rl_devarg(vdev, "socket", p.path + !is_file,
				  PATH_BYTES - !is_file);
	} else if (rl_driver_is(vdev, "net_vhost")) {
		p.serves = !says(vdev, "client", "1");
		there = rl_devarg(vdev, "iface", p.path, PATH_BYTES);
	} else if (rl_driver_is(vdev, "net_virtio_user")) {
		p.serves = says(vdev, "server", "1");
		there = rl_devarg(vdev, "path", p.path, PATH_BYTES);
	}
	if (!there)
		p.type = 0;
	return p;
}

/* Whether the kernel lists a socket with this abstract name. */
static bool
is_listed(const char *path)
{
	FILE *f = fopen("/proc/net/unix", "re");
	const size_t n = strlen(path);
	char line[256];
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL) {
		const char *name = strrchr(line, ' ');

		/* zeros at the end of an abstract name are shown as '@', too */
		line[strcspn(line, "\n")] = '\0';
		found = name != NULL && strncmp(++name, path, n) == 0 &&
			strspn(name + n, "@") == strlen(name + n);
	}
	if (f != NULL)
		fclose(f);
	return found;
}

/*
 * Whether a living process has a socket at this file, in whatever namespaces.
 * The kernel says so to a socket of another type, without a connection: a server
 * of memif's in DPDK ends its process if one is closed at once.
 */
static bool
is_bound(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool bound;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	bound = fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 ||
		(errno != ECONNREFUSED && errno != ENOENT);
	if (fd >= 0)
		close(fd);
	return bound;
}

/* @return 0; -errno if the folder of a file is missing */
static int
check_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_BYTES];

	snprintf(folder, sizeof(folder), "%.*s",
		 slash == NULL ? 1 : (int)(slash - path) + 1,
		 slash == NULL ? "." : path);
	return access(folder, F_OK) == 0 ? 0 : -errno;
}

int
rl_listen_clear(const char *vdev, char *err, size_t len)
{
	const struct place at = place_of(vdev);
	const char *const path = at.path;
	struct stat st;
	int ret;

	if (at.type == 0 || path[0] == '@' || !at.serves)
		return 0;
	ret = check_folder(path);
	if (ret != 0)
		return rl_refuse(err, len, ret, "%s: %s", path, strerror(-ret));
	if (lstat(path, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return rl_refuse(err, len, -EEXIST, "%s exists, and is no "
				 "socket; take another path", path);
	if (!is_bound(path) && unlink(path) == 0)
		return 0;
	return rl_refuse(err, len, -EBUSY, "%s: another process listens there; "
			 "stop that one, or take another path", path);
}

bool
rl_listen_waits(const char *vdev)
{
	return rl_driver_is(vdev, "net_virtio_user") &&
	       says(vdev, "server", "1");
}

bool
rl_listen_calls(const char *vdev)
{
	const struct place at = place_of(vdev);

	/* net_vhost connects again by itself */
	return at.type != 0 && !at.serves && !rl_driver_is(vdev, "net_vhost");
}

bool
rl_listen_answers(const char *vdev)
{
	const struct place at = place_of(vdev);

	return at.path[0] == '@' ? is_listed(at.path) : is_bound(at.path);
}

bool
rl_listen_same(const char *vdev, const char *other)
{
	const struct place a = place_of(vdev), b = place_of(other);

	return a.type != 0 && a.type == b.type && strcmp(a.path, b.path) == 0;
}
