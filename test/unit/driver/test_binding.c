/* SPDX-License-Identifier: BSD-3-Clause */

/* Each way in which the binding of a device can be wrong [PHY-4, PHY-7], in a
 * sysfs that is made up. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rl_binding.h"

#define NIC "0000:01:00.0"
#define PCI "/sys/bus/pci/devices/" NIC

static char root[64];
static char why[256];

/* The path below the root; makes its folders. */
static const char *
at(const char *path)
{
	static char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *s = full + strlen(root) + 1; (s = strchr(s, '/')) != NULL;
	     s++) {
		*s = '\0';
		(void)mkdir(full, 0755);
		*s = '/';
	}
	return full;
}

static void
put(const char *path, const char *text)
{
	FILE *f = fopen(at(path), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void
point(const char *path, const char *to)
{
	(void)unlink(at(path));
	assert_int_equal(symlink(to, at(path)), 0);
}

static void
bound(const char *driver)
{
	char to[64];

	snprintf(to, sizeof(to), "../../../bus/pci/drivers/%s", driver);
	point(PCI "/driver", to);
}

static int
setup(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/reflit-binding-XXXXXX");
	assert_non_null(mkdtemp(root));
	assert_int_equal(chmod(root, 0755), 0); /* nobody, too, looks there */
	put(PCI "/vendor", "0x8086\n");
	return 0;
}

static int
discard(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int
teardown(void **state)
{
	(void)state;
	return nftw(root, discard, 8, FTW_DEPTH | FTW_PHYS);
}

/* It is in a group, with a folder of its own as the kernel has them. */
static void
in_group(const char *group)
{
	char to[160];

	snprintf(to, sizeof(to), "/sys/kernel/iommu_groups/%s/devices/" NIC,
		 group);
	put(to, "");
	snprintf(to, sizeof(to), "%s/sys/kernel/iommu_groups/%s", root, group);
	point(PCI "/iommu_group", to);
}

static const char *
wrong(bool huge)
{
	bool is;

	why[0] = '\0';
	is = rl_binding_wrong(root, NIC, huge, why, sizeof(why));
	assert_int_equal(is, why[0] != '\0');
	assert_null(strchr(why, '\n'));
	return why;
}

static void
a_device_that_is_not_there(void **state)
{
	char driver[RL_BINDING_DRIVER];

	(void)state;
	assert_true(rl_binding_wrong(root, "0000:02:00.0", false, why,
				     sizeof(why)));
	assert_string_equal(why, "there is no such device; dpdk-devbind.py "
				 "--status names those of this machine");
	assert_false(rl_binding_driver(root, "0000:02:00.0", driver));
	assert_true(rl_binding_driver(root, NIC, driver));
	assert_string_equal(driver, "");
}

static void
a_device_that_is_not_bound(void **state)
{
	(void)state;
	in_group("7");
	assert_string_equal(wrong(false), "it is bound to no driver; "
					  "dpdk-devbind.py -b vfio-pci " NIC);
}

static void
a_device_of_the_kernels_driver(void **state)
{
	char driver[RL_BINDING_DRIVER];

	(void)state;
	in_group("7");
	bound("e1000e");
	assert_string_equal(wrong(false),
			    "the kernel has it, with the driver "
			    "e1000e; dpdk-devbind.py -b vfio-pci " NIC);
	assert_true(rl_binding_driver(root, NIC, driver));
	assert_string_equal(driver, "e1000e");
}

static void
a_device_without_an_iommu_group(void **state)
{
	(void)state;
	assert_string_equal(wrong(false),
			    "it is bound to no driver; it is in "
			    "no IOMMU group, which vfio-pci needs: start the "
			    "kernel with an IOMMU (intel_iommu=on), or "
			    "dpdk-devbind.py -b uio_pci_generic " NIC);
	bound("igb");
	assert_non_null(strstr(wrong(false), "the driver igb; it is in no "
					     "IOMMU group"));
}

static void
a_device_that_needs_hugepages(void **state)
{
	static const char nr[] =
		"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";

	(void)state;
	bound("uio_pci_generic");
	put(PCI "/uio/uio3/name", "uio_pci_generic\n");
	put("/dev/uio3", "");
	assert_true(rl_binding_huge(root, NIC));
	put(nr, "0\n");
	assert_string_equal(wrong(true),
			    "without an IOMMU (uio_pci_generic) "
			    "it needs hugepages: sysctl vm.nr_hugepages=512, "
			    "and --in-memory -m 256, or bind it to vfio-pci "
			    "behind an IOMMU");
	put(nr, "128\n");
	assert_string_equal(wrong(true), "");
	/* there are some, and EAL does not take them */
	assert_non_null(
		strstr(wrong(false), "it needs hugepages: --in-memory"));
	/* so does VFIO without an IOMMU */
	in_group("0");
	put("/sys/kernel/iommu_groups/0/name", "vfio-noiommu\n");
	put("/dev/vfio/noiommu-0", "");
	bound("vfio-pci");
	assert_true(rl_binding_huge(root, NIC));
	assert_string_equal(wrong(true), "");
	assert_non_null(strstr(wrong(false), "it needs hugepages"));
}

/* As an ordinary user: nothing is forbidden to root. */
static const char *
wrong_to_nobody(void)
{
	const bool is_root = geteuid() == 0;

	assert_int_equal(is_root ? seteuid(65534) : 0, 0);
	(void)wrong(false);
	assert_int_equal(is_root ? seteuid(0) : 0, 0);
	return why;
}

static void
a_device_that_may_not_be_opened(void **state)
{
	(void)state;
	in_group("7");
	bound("vfio-pci");
	assert_string_equal(wrong(false),
			    "cannot open /dev/vfio/7: No such "
			    "file or directory; a container must be given it");
	put("/dev/vfio/7", "");
	assert_int_equal(chmod(at("/dev/vfio/7"), 0), 0);
	assert_string_equal(wrong_to_nobody(),
			    "cannot open /dev/vfio/7: "
			    "Permission denied; give the file to this user, or "
			    "start as root");
	assert_int_equal(chmod(at("/dev/vfio/7"), 0666), 0);
	assert_string_equal(wrong_to_nobody(), "");
	assert_false(rl_binding_huge(root, NIC));
}

static void
a_device_in_one_group_with_one_of_the_kernels(void **state)
{
	static const char mate[] = "/sys/bus/pci/devices/0000:01:00.1/driver";

	(void)state;
	in_group("7");
	put("/sys/kernel/iommu_groups/7/devices/0000:01:00.1", "");
	put("/dev/vfio/7", "");
	bound("vfio-pci");
	point(mate, "../../../bus/pci/drivers/ixgbe");
	assert_string_equal(wrong(false),
			    "0000:01:00.1, in the same IOMMU "
			    "group, is the kernel's (ixgbe); dpdk-devbind.py "
			    "-b vfio-pci 0000:01:00.1");
	/* none that does DMA, or ours */
	point(mate, "../../../bus/pci/drivers/pcieport");
	assert_string_equal(wrong(false), "");
	point(mate, "../../../bus/pci/drivers/vfio-pci");
	assert_string_equal(wrong(false), "");
}

static void
arguments_of_eal_are_searched_for_devices(void **state)
{
	char words[] = "-m", value[] = "ffff:ff:1f.7", allow[] = "-a",
	     device[] = "ffff:ff:1f.7,x=1", program[] = "reflit";
	char *const none[] = { program, words, value };
	char *const one[] = { program, words, value, allow, device };

	(void)state;
	rl_binding_of_args(3, none, false, why, sizeof(why));
	assert_string_equal(why, "");
	rl_binding_of_args(5, one, false, why, sizeof(why));
	assert_non_null(strstr(why, "; ffff:ff:1f.7: there is no such device"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_device_that_is_not_there),
		CASE(a_device_that_is_not_bound),
		CASE(a_device_of_the_kernels_driver),
		CASE(a_device_without_an_iommu_group),
		CASE(a_device_that_needs_hugepages),
		CASE(a_device_that_may_not_be_opened),
		CASE(a_device_in_one_group_with_one_of_the_kernels),
		CASE(arguments_of_eal_are_searched_for_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
