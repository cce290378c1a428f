/* SPDX-License-Identifier: BSD-3-Clause */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rl_binding.h"

#define PATH_BYTES 768
#define NO_IOMMU "noiommu-"

/* A device, and what sysfs says of it. */
struct device {
	const char *root, *name;
	char driver[RL_BINDING_DRIVER]; /* the kernel's; empty: none */
	char group[16];			/* of the IOMMU; empty: none */
	char node[64];			/* that DPDK opens; empty: none */
};

/* The last part of what a link leads to; empty: there is no such link. */
static void
link_name(const char *path, char *buf, size_t len)
{
	char to[PATH_BYTES];
	const ssize_t n = readlink(path, to, sizeof(to) - 1);
	const char *slash;

	to[n < 0 ? 0 : n] = '\0';
	slash = strrchr(to, '/');
	snprintf(buf, len, "%.*s", (int)len - 1, slash == NULL ? to : slash + 1);
}

/* A path of the device's folder. */
static char *
path_of(const struct device *d, const char *more, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/sys/bus/pci/devices/%s%s", d->root,
		 d->name, more);
	return path;
}

/* The first entry of a folder that is neither . nor .., or "". */
static void
first_entry(const char *path, char buf[32])
{
	DIR *d = opendir(path);
	const struct dirent *e = NULL;

	while (d != NULL && (e = readdir(d)) != NULL && e->d_name[0] == '.')
		;
	snprintf(buf, 32, "%.31s", e == NULL ? "" : e->d_name);
	if (d != NULL)
		closedir(d);
}

static bool
is_uio(const struct device *d)
{
	return strstr(d->driver, "uio") != NULL;
}

/* The file by which DPDK has the device. */
static void
find_node(struct device *d)
{
	char path[PATH_BYTES], text[32] = "";
	FILE *f;

	if (is_uio(d)) {
		first_entry(path_of(d, "/uio", path), text);
		snprintf(d->node, sizeof(d->node), "/dev/%s", text);
	} else if (strncmp(d->driver, "vfio", 4) == 0) {
		f = fopen(path_of(d, "/iommu_group/name", path), "re");
		if (f != NULL && fgets(text, sizeof(text), f) == NULL)
			text[0] = '\0';
		if (f != NULL)
			fclose(f);
		snprintf(d->node, sizeof(d->node), "/dev/vfio/%s%s",
			 strncmp(text, "vfio-noiommu", 12) == 0 ? NO_IOMMU : "",
			 d->group);
	}
}

/* @return whether there is such a device */
static bool
look(struct device *d, const char *root, const char *name)
{
	char path[PATH_BYTES];

	*d = (struct device){ .root = root, .name = name };
	link_name(path_of(d, "/driver", path), d->driver, sizeof(d->driver));
	link_name(path_of(d, "/iommu_group", path), d->group, sizeof(d->group));
	find_node(d);
	return access(path_of(d, "", path), F_OK) == 0;
}

bool
rl_binding_driver(const char *root, const char *name,
		  char driver[RL_BINDING_DRIVER])
{
	struct device d;
	const bool there = look(&d, root, name);

	memcpy(driver, d.driver, RL_BINDING_DRIVER);
	return there;
}

static bool
needs_huge(const struct device *d)
{
	return is_uio(d) || strstr(d->node, NO_IOMMU) != NULL;
}

bool
rl_binding_huge(const char *root, const char *name)
{
	struct device d;

	return look(&d, root, name) && needs_huge(&d);
}

/* Hugepages of any size, in use or not. */
static bool
has_huge(const char *root)
{
	char dir[PATH_BYTES / 2], path[PATH_BYTES], text[24];
	const struct dirent *e;
	bool has = false;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/sys/kernel/mm/hugepages", root);
	d = opendir(dir);
	while (d != NULL && !has && (e = readdir(d)) != NULL) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s/nr_hugepages", dir,
			 e->d_name);
		f = fopen(path, "re");
		if (f == NULL)
			continue;
		has = fgets(text, sizeof(text), f) != NULL && atol(text) > 0;
		fclose(f);
	}
	if (d != NULL)
		closedir(d);
	return has;
}

/* Another device of its group that the kernel keeps: VFIO gives out neither. */
static bool
find_mate(const struct device *d, struct device *mate, char name[32])
{
	char path[PATH_BYTES];
	const struct dirent *e;
	bool found = false;
	DIR *dir = opendir(path_of(d, "/iommu_group/devices", path));

	while (dir != NULL && !found && (e = readdir(dir)) != NULL) {
		snprintf(name, 32, "%.31s", e->d_name);
		found = e->d_name[0] != '.' && look(mate, d->root, name) &&
			mate->driver[0] != '\0' && mate->node[0] == '\0' &&
			strcmp(mate->driver, "pcieport") != 0 &&
			strcmp(mate->driver, "pci-stub") != 0;
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}

/* Of a device that no driver for DPDK has. */
static void
not_bound(const struct device *d, char *buf, size_t len)
{
	snprintf(buf, len, "%s%s; %sdpdk-devbind.py -b %s %s",
		 d->driver[0] == '\0' ? "it is bound to no driver"
				      : "the kernel has it, with the driver ",
		 d->driver,
		 d->group[0] != '\0'
			 ? ""
			 : "it is in no IOMMU group, which vfio-pci needs: "
			   "start the kernel with an IOMMU (intel_iommu=on), "
			   "or ",
		 d->group[0] != '\0' ? "vfio-pci" : "uio_pci_generic", d->name);
}

bool
rl_binding_wrong(const char *root, const char *name, bool huge, char *buf,
		 size_t len)
{
	struct device d, mate;
	char path[PATH_BYTES], its[32];

	if (!look(&d, root, name)) {
		snprintf(buf, len,
			 "there is no such device; dpdk-devbind.py "
			 "--status names those of this machine");
	} else if (d.node[0] == '\0') {
		not_bound(&d, buf, len);
	} else if (needs_huge(&d) && !(huge && has_huge(root))) {
		snprintf(buf, len,
			 "without an IOMMU (%s) it needs hugepages: "
			 "%s--in-memory -m 256, or bind it to "
			 "vfio-pci behind an IOMMU",
			 d.driver,
			 has_huge(root) ? ""
					: "sysctl vm.nr_hugepages=512, "
					  "and ");
	} else if (find_mate(&d, &mate, its)) {
		snprintf(buf, len,
			 "%s, in the same IOMMU group, is the "
			 "kernel's (%s); dpdk-devbind.py -b vfio-pci "
			 "%s",
			 its, mate.driver, its);
	} else {
		snprintf(path, sizeof(path), "%s%s", root, d.node);
		if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0)
			return false;
		snprintf(buf, len, "cannot open %s: %s; %s", d.node,
			 strerror(errno),
			 errno == EACCES ? "give the file to this user, or "
					   "start as root"
					 : "a container must be given it");
	}
	return true;
}

void
rl_binding_of_args(int argc, char *const argv[], bool huge, char *buf,
		   size_t len)
{
	char name[32], why[256];

	buf[0] = '\0';
	for (int i = 1; i < argc && buf[0] == '\0'; i++) {
		if (strcmp(argv[i - 1], "-a") != 0 &&
		    strcmp(argv[i - 1], "--allow") != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(argv[i], ","),
			 argv[i]);
		if (rl_binding_wrong("", name, huge, why, sizeof(why)))
			snprintf(buf, len, "; %s: %s", name, why);
	}
}
