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

/* Where a port listens. @return the type of its socket; 0: it does not */
static int
listens_at(const char *vdev, char *path)
{
	if (rl_driver_is(vdev, "net_memif"))
		return says(vdev, "role", "server") &&
				       says(vdev, "socket-abstract", "no") &&
				       rl_devarg(vdev, "socket", path,
						 PATH_BYTES)
			       ? SOCK_SEQPACKET
			       : 0;
	if (rl_driver_is(vdev, "net_vhost"))
		return !says(vdev, "client", "1") &&
				       rl_devarg(vdev, "iface", path, PATH_BYTES)
			       ? SOCK_STREAM
			       : 0;
	return rl_driver_is(vdev, "net_virtio_user") &&
			       says(vdev, "server", "1") &&
			       rl_devarg(vdev, "path", path, PATH_BYTES)
		       ? SOCK_STREAM
		       : 0;
}

/*
 * Whether the kernel lists a socket with this name, in this network namespace.
 */
static bool
is_listed(const char *path)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[256];
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL) {
		const char *name = strrchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		found = name != NULL && strcmp(name + 1, path) == 0;
	}
	if (f != NULL)
		fclose(f);
	return found;
}

/*
 * @return whether nothing listens there: tries a connection, as a last resort
 */
static bool
is_dead(const char *path, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool dead;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	dead = fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0 &&
	       errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return dead;
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
	char path[PATH_BYTES];
	const int type = listens_at(vdev, path);
	struct stat st;
	int ret = type == 0 ? 0 : check_folder(path);

	if (ret != 0)
		return rl_refuse(err, len, ret, "%s: %s", path, strerror(-ret));
	if (type == 0 || lstat(path, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return rl_refuse(err, len, -EEXIST, "%s exists, and is no "
				 "socket; take another path", path);
	if (!is_listed(path) && is_dead(path, type) && unlink(path) == 0)
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
